import { type ConfigProblem, serviceAuthError } from './errors.ts';

/** Takes down what is wrong with an option; undefined: nothing is. */
export type Report = (option: string, message: string | undefined) => void;

/** What is wrong with a client secret, whichever way it came. */
export function problemOfSecret(value: unknown): string | undefined {
  if (typeof value === 'string' && value.trim() !== value) {
    return 'begins or ends with white space; a secret read from a file often ends with a line break: trim it';
  }
  return problemOfText(value, 4_096);
}

/** The error for a list of problems. */
export function configError(problems: readonly ConfigProblem[]): Error {
  const list = problems.map(({ option, message }) => `${option} ${message}`).join('; ');
  return serviceAuthError('ERR_CONFIG', `Wrong options: ${list}.`, { problems });
}

/** What is wrong with a text of 1 to `longest` characters. */
export function problemOfText(value: unknown, maxLength: number): string | undefined {
  if (typeof value !== 'string' || value === '') return 'must be a string that is not empty';
  if (value.length > maxLength) return `must be at most ${maxLength} characters long`;
  if (value.trim() !== value) return 'must not begin or end with white space';
  return /[\p{Cc}\p{Cs}]/u.test(value) ? 'must not contain control characters or unpaired surrogates' : undefined;
}

/** What is wrong with an integer from `least` to `most`. */
export function problemOfInteger(value: unknown, min: number, max: number): string | undefined {
  const fits = Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
  return fits ? undefined : `must be an integer from ${min} to ${max}`;
}

/** What is wrong with an object that must have these methods. */
export function problemOfMethods(value: unknown, methods: readonly string[], what: string): string | undefined {
  const object = Object(value) as Record<string, unknown>;
  const complete = methods.every((name) => typeof object[name] === 'function');
  return complete ? undefined : `must be ${what}`;
}
