import { afterEach, expect } from 'vitest';
import { canariesIn } from '../../../../scripts/canaries.ts';

export { canariesIn, secretCanary, tokenCanary } from '../../../../scripts/canaries.ts';

const leaks: string[] = [];

/** Fails the running test if a canary can be read in `value`. */
export function watchForCanaries(what: string, value: unknown): void {
  for (const canary of canariesIn(value)) leaks.push(`${canary} in ${what}`);
}

afterEach(() => {
  expect(leaks.splice(0)).toEqual([]);
});
