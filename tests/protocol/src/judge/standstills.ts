import type { Circumstances, Process } from './scene.ts';
import type { Sights } from './sights.ts';

/** The times in which a process stood still for most of what it has for a token request. No other process can tell it from a dead one. */
export interface Standstills {
  readonly sights: Partial<Sights>;
  count(): number;
}

/** Half of what a process has for a token request with the default `timeoutMs`. */
const longMs = 30_000;

export function createStandstills({ audiences }: Circumstances): Standstills {
  const machines = new Map<string, Process>();
  const seen = new Map<string, number>();
  const spans = new Map<string, { readonly blockedMs: number; isSent: boolean; isLong: boolean }>();
  let ended = 0;
  const blockedMsOf = (machine: string) => machines.get(machine)?.blockedMs ?? 0;

  function isLong(machine: string): boolean {
    const span = spans.get(machine);
    if (span) span.isLong ||= blockedMsOf(machine) - span.blockedMs >= longMs;
    return span?.isLong ?? false;
  }

  function end(machine: string): void {
    if (isLong(machine)) ended += 1;
    spans.delete(machine);
  }

  return {
    count: () => ended + [...spans.keys()].filter(isLong).length,
    sights: {
      began(machine) {
        machines.set(machine.name, machine);
      },
      looked(machine) {
        // A process that reads again has given up what it reserved, unless it reads for another audience.
        if (spans.get(machine)?.isSent === false && audiences.length === 1) end(machine);
        seen.set(machine, blockedMsOf(machine));
      },
      // From the read before the reservation to the write of the outcome.
      wrote(machine) {
        end(machine);
        spans.set(machine, { blockedMs: seen.get(machine) ?? 0, isSent: false, isLong: false });
      },
      sending({ machine }) {
        const span = spans.get(machine);
        if (span) span.isSent = true;
      },
    },
  };
}
