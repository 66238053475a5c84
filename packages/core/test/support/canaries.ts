import { canariesIn } from '@service-auth/test-tools/canaries';
import { afterEach, expect } from 'vitest';

export { canariesIn, secretCanary, tokenCanary } from '@service-auth/test-tools/canaries';

const leaks: string[] = [];

/** Fails the running test if a canary can be read in `value`. */
export function watchForCanaries(what: string, value: unknown): void {
  for (const canary of canariesIn(value)) leaks.push(`${canary} in ${what}`);
}

afterEach(() => {
  expect(leaks.splice(0)).toEqual([]);
});
