type Check = readonly [isValid: (value: unknown) => boolean, must: string];

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);
const isWithin = (value: unknown, min: number, max: number): boolean =>
  typeof value === 'number' && value >= min && value <= max;
const duration: Check = [(value) => isWithin(value, 0, 3_600_000), 'must be 0 to 3,600,000 milliseconds'];

/** The fields that every answer may have. */
const common: Readonly<Record<string, Check>> = {
  status: [(value) => Number.isInteger(value) && isWithin(value, 200, 999), 'must be an integer from 200 to 999'],
  headers: [isObject, 'must be an object of names and values'],
  body: [
    (value) => typeof value === 'string' || value instanceof Uint8Array,
    'must be a string or a Uint8Array: write objects with JSON.stringify()',
  ],
  delayMs: duration,
  waitBefore: [(value) => value === 'handling' || value === 'answering', "must be 'handling' or 'answering'"],
  cut: [
    (value) => value === 'request' || value === 'answer' || value === 'body',
    "must be 'request', 'answer' or 'body'",
  ],
};

/** The fields of an answer of the token endpoint besides these. */
const ofTokens: Readonly<Record<string, Check>> = {
  issue: [(value) => typeof value === 'boolean', 'must be a boolean'],
  fields: [isObject, 'must be an object'],
  lifetimeMs: [(value) => typeof value === 'number' && Number.isFinite(value), 'must be a number of milliseconds'],
};

/**
 * Checks a scripted answer, so that a mistake in a test shows where it was made.
 * @throws TypeError that names the field
 */
export function checkAnswer(answer: unknown, isOfTokens: boolean): void {
  if (!isObject(answer)) throw new TypeError('A scripted answer must be an object such as { status: 503 }.');
  const checks: Readonly<Record<string, Check>> = isOfTokens ? { ...common, ...ofTokens } : common;
  for (const [name, value] of Object.entries(answer as object)) {
    if (!Object.hasOwn(checks, name)) {
      throw new TypeError(`A scripted answer has no field ${name}. Its fields: ${Object.keys(checks).join(', ')}.`);
    }
    const [isValid, must] = checks[name] as Check;
    if (value !== undefined && !isValid(value)) throw new TypeError(`The field ${name} of a scripted answer ${must}.`);
  }
}
