import type { ConfigProblem } from '../contract/errors.ts';

/** Returns the problems of properties that are no options. */
export function unknownOptions(given: unknown, names: readonly string[]): ConfigProblem[] {
  return Object.keys(Object(given))
    .filter((name) => !names.includes(name))
    .map((name) => ({ option: `clientAuthentication.${name}`, message: 'is not an option' }));
}
