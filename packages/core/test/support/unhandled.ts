import { onTestFinished } from 'vitest';

/** Notes from now on each rejection that nobody handles: it ends a process. Returns a function that returns those of the work until then. */
export function watchForUnhandled(): () => Promise<readonly unknown[]> {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => void unhandled.push(reason);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  return async () => {
    // Node reports a rejection when the microtasks of a turn are done.
    await new Promise((resolve) => setImmediate(resolve));
    return unhandled;
  };
}
