import { inspect } from 'node:util';
import { afterEach, expect } from 'vitest';

/** The client secret of all tests. Nothing that can be read may contain it. */
export const secretCanary = 'canary-secret-5f0e3a7c91';
/** How all tokens of all tests begin. Nothing that can be read may contain it, but a token's own value. */
export const tokenCanary = 'canary-token-b2d84c60f7';

const leaks: string[] = [];

/** Every way in which a value may get into a log. */
function renderings(value: unknown): string[] {
  const texts = [
    inspect(value, { depth: Number.POSITIVE_INFINITY, showHidden: true, getters: true, maxStringLength: null }),
    inspect(value, { depth: Number.POSITIVE_INFINITY, showHidden: true, customInspect: false, maxArrayLength: null }),
    JSON.stringify(value) ?? '',
    JSON.stringify(value, Object.getOwnPropertyNames(value ?? {})) ?? '',
    typeof value === 'object' && value !== null && !('toString' in value) ? '' : String(value),
  ];
  if (value instanceof Error) texts.push(value.message, value.stack ?? '', ...renderings(value.cause));
  return texts;
}

/** The canaries that can be read in a value: in its text, its properties, its causes, inspected at any depth, or as JSON. */
export function canariesIn(value: unknown): string[] {
  const text = renderings(value).join('\n');
  return [secretCanary, tokenCanary].filter((canary) => text.includes(canary));
}

/** Fails the running test if a canary can be read in `value`. */
export function watchForCanaries(what: string, value: unknown): void {
  for (const canary of canariesIn(value)) leaks.push(`${canary} in ${what}`);
}

afterEach(() => {
  expect(leaks.splice(0)).toEqual([]);
});
