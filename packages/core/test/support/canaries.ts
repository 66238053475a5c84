import { canariesIn } from '@service-auth/test-tools/canaries';
import { expect, onTestFinished } from 'vitest';

export { canariesIn, secretCanary, tokenCanary } from '@service-auth/test-tools/canaries';

/** Fails the running test, when it has finished, if a canary can be read in `value`. It cannot throw here, because core ignores errors of listeners. */
export function watchForCanaries(
  what: string,
  value: unknown,
  whenFinished: (check: () => void) => void = onTestFinished,
): void {
  const leaks = canariesIn(value).map((canary) => `${canary} in ${what}`);
  if (leaks.length > 0) whenFinished(() => expect.fail(leaks.join(', ')));
}
