import { ServiceAuthError } from '@service-auth/core';

/**
 * Rejects booleans as texts: a variable of the environment is a text, and `'false'` would count as
 * true.
 */
export function refuseNonBooleans(options: Readonly<Record<string, unknown>>): void {
  const wrong = Object.keys(options).filter((name) => !['boolean', 'undefined'].includes(typeof options[name]));
  if (wrong.length === 0) return;
  const problems = wrong.map((option) => ({ option, message: 'must be a boolean' }));
  throw new ServiceAuthError('ERR_CONFIG', `Wrong options: ${wrong.join(' and ')} must be a boolean.`, { problems });
}

/**
 * Rejects what a factory returns for `method`, if it has options that Nest needs before the factory
 * runs.
 */
export function refuseStaticOptions(given: object, names: readonly string[], method: string): void {
  const options = names.filter((name) => name in given);
  if (options.length === 0) return;
  const message = `Wrong options: ${options.join(' and ')} must stand beside the factory, as in ${method}({ ${options[0]}: …, useFactory }): Nest needs it before that runs.`;
  const problems = options.map((option) => ({
    option,
    message: 'must not come from a factory: Nest needs it before that runs',
  }));
  throw new ServiceAuthError('ERR_CONFIG', message, { problems });
}
