import type { Settings } from '../contract/settings.ts';
import type { Clock } from '../platform/clock.ts';

/** The end of an operation. */
export type End<Result> = { readonly result: Result } | { readonly error: unknown };

/** Runs an operation, and reports how it ended and how long it took, if anybody listens to operations. */
export function observe<Result>(
  { clock, observesOperations }: { readonly clock: Clock } & Pick<Settings, 'observesOperations'>,
  run: () => Promise<Result>,
  report: (end: End<Result>, durationMs: number) => void,
): Promise<Result> {
  if (!observesOperations) return run();
  const from = clock.monotonic();
  const end = (how: End<Result>) => report(how, clock.monotonic() - from);
  return run().then(
    (result) => {
      end({ result });
      return result;
    },
    (error: unknown) => {
      end({ error });
      throw error;
    },
  );
}
