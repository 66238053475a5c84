import { type ConfigProblem, serviceAuthError } from './errors.ts';

/** Reports the problem of an option. Undefined: the option has no problem. */
export type Report = (option: string, message: string | undefined) => void;

/** Returns a function that adds the reported problems to a list. */
export function reportTo(problems: ConfigProblem[]): Report {
  return (option, message) => {
    if (message !== undefined) problems.push({ option, message });
  };
}

/** Reports the properties of `given` that are not in `names`. `prefix` precedes their names. */
export function reportUnknown(given: object, names: readonly string[], report: Report, prefix = ''): void {
  for (const name of Object.keys(given)) if (!names.includes(name)) report(prefix + name, 'is not an option');
}

/** Returns the problem of a client secret, if it has one. */
export function problemOfSecret(value: unknown): string | undefined {
  return problemOfText(value, 4_096);
}

/** Creates the error for a list of problems. */
export function configError(problems: readonly ConfigProblem[]): Error {
  const list = problems.map(({ option, message }) => `${option} ${message}`).join('; ');
  return serviceAuthError('ERR_CONFIG', `Wrong options: ${list}.`, { problems });
}

/** Returns the problem of a text that must have 1 to `maxLength` characters, if it has one. */
export function problemOfText(value: unknown, maxLength: number): string | undefined {
  if (typeof value !== 'string' || value === '') return 'must be a string that is not empty';
  if (value.length > maxLength) return `must be at most ${maxLength} characters long`;
  if (value.trim() !== value)
    return 'must not begin or end with white space, such as the line break of a file: trim it';
  return /[\p{Cc}\p{Cs}]/u.test(value) ? 'must not contain control characters or unpaired surrogates' : undefined;
}

/** Returns the problem of a number that must be an integer from `min` to `max`, if it has one. */
export function problemOfInteger(value: unknown, min: number, max: number): string | undefined {
  const fits = Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
  return fits ? undefined : `must be an integer from ${min} to ${max}`;
}

/**
 * Returns the problem of an object that must have these methods, if it has one. `what` describes
 * the object.
 */
export function problemOfMethods(value: unknown, methods: readonly string[], what: string): string | undefined {
  const object = Object(value) as Record<string, unknown>;
  const complete = methods.every((name) => typeof object[name] === 'function');
  return complete ? undefined : `must be ${what}`;
}
