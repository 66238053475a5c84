import type { LedgerRecord } from '../../../packages/core/src/ledger/record.ts';

/** Counts leases that end without an outcome. If no process dies, this happens only while a process stands still. */
export interface LeaseWatch {
  /** The record as it was until now; `now`: the ledger's time. */
  ended(record: LedgerRecord, now: number): void;
  /** The record as it is from now on. */
  began(record: LedgerRecord, now: number): void;
  /** The number of leases that ended without an outcome. */
  readonly lapsed: number;
}

/** Half of a lease with core's default `timeoutMs`. */
const stoodStillForMs = 30_000;

/** Creates the watch of one run. `blockedMsOf`: for how long the event loop of a process has stood still so far. */
export function createLeaseWatch(
  blockedMsOf: (machine: string) => number,
  violated: (promise: string, detail: string) => void,
): LeaseWatch {
  const begun = new Map<string, { readonly machine: string; readonly blockedMs: number }>();
  const judged = new Set<string>();

  return {
    began(record, now) {
      for (const { lease } of record.audiences) {
        const entry = record.entries.find(({ id }) => id === lease?.id);
        if (!lease || !entry || begun.has(lease.id)) continue;
        const machine = entry.instance;
        // A lease begins when its process read the record. What passed until it was written, the process stood still.
        begun.set(lease.id, { machine, blockedMs: blockedMsOf(machine) - (now - entry.at) });
      }
    },
    ended(record, now) {
      for (const { lease } of record.audiences) {
        const start = lease && begun.get(lease.id);
        if (!lease || !start || lease.until > now || judged.has(lease.id)) continue;
        judged.add(lease.id);
        const stoodStillMs = blockedMsOf(start.machine) - start.blockedMs;
        if (stoodStillMs < stoodStillForMs)
          violated('a running process does not count as dead', `${start.machine} stood still for ${stoodStillMs} ms`);
      }
    },
    get lapsed() {
      return judged.size;
    },
  };
}
