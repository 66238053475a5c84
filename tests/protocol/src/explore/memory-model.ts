import { type Attempt, newRecord } from '../../../../packages/core/src/ledger/journal.ts';
import { type Limits, limitsFor } from '../../../../packages/core/src/ledger/limits.ts';
import type { Instant } from '../../../../packages/core/src/platform/instant.ts';
import type { Flight } from '../../../../packages/core/src/token/flight.ts';
import { type after, emptyMemory, type Memory } from '../../../../packages/core/src/token/memory.ts';
import type { UsableToken } from '../../../../packages/core/src/token/usable-token.ts';
import type { Records } from './model.ts';

/** The scope of the search: every order of calls, answers, faults and steps of time in a few processes. */
export interface MemoryScope {
  readonly processes: number;
  readonly faults: number;
  /** The number of times that time may pass, by any of {@link timeSteps}. */
  readonly steps: number;
  /** The maximum number of issued tokens. */
  readonly tokens: number;
  readonly kinds: readonly MemoryFault[];
}

/** The possible events besides calls, answers and time. `sleep`: a machine sleeps while its monotonic clock stands still. */
export type MemoryFault = '401' | 'sleep' | 'reset' | 'read fails' | 'request fails' | 'restart';

const second = 1_000;
const minute = 60 * second;

export const lifetimeMs: number = 60 * minute;
/** The steps in which time may pass: until a read is due, until a read is a must, until a renewal is due, until the token is over. */
export const timeSteps: readonly number[] = [26 * second, 29 * second, 52 * minute, 60 * minute];
export const sleepMs: number = 40 * minute;
export const limits: Limits = limitsFor([{ tokens: 150, windowMs: 24 * 60 * minute }], 0, 'durable');

/** Flights that only read the record, and flights that get a token. */
export type FlightKind = 'reading' | 'acquiring';

/** The end of a flight: its result, or that it failed. */
export type FlightEnd = Parameters<typeof after>[2];

/** A flight under way. */
export interface RunningFlight {
  readonly flight: Flight;
  readonly id: string;
  readonly unusable: readonly (string | undefined)[];
  readonly resetUpTo: number;
  /** True if the token in memory is still the one with which the flight began. */
  readonly isSame?: boolean;
  readonly stage:
    | { readonly name: 'reading' }
    | { readonly name: 'sent'; readonly attempt: Attempt; readonly sentAt: Instant }
    | { readonly name: 'landing'; readonly result: FlightEnd };
}

export interface Process {
  readonly memory: Memory;
  readonly sleptMs: number;
  readonly reading: RunningFlight | undefined;
  readonly acquiring: RunningFlight | undefined;
  /** `reset()` was called with this token, and the fleet has not been told yet. */
  readonly resetting: { readonly cached: UsableToken | undefined } | undefined;
  /** Ids of the tokens that this process ended by `reset()`. */
  readonly ended: readonly string[];
  /** The token that the API rejected, until a flight ends. */
  readonly refused: string | undefined;
  /** The time of the last failed read of the record: afterwards the process cannot know what the fleet reset. */
  readonly readFailedAt: number;
  readonly flights: number;
}

export interface MemoryState {
  readonly time: number;
  /** Its number in `Records`. */
  readonly record: number;
  readonly processes: readonly Process[];
  /** The tokens that were issued, with their true expiry. */
  readonly tokens: Readonly<Record<string, { readonly generation: number; readonly expiresAt: number }>>;
  /** The resets that the fleet was told of. */
  readonly resets: readonly { readonly upTo: number; readonly at: number }[];
  readonly faultsLeft: number;
  readonly stepsLeft: number;
}

const begun = 1_780_000_000_000;

const nobody: Process = {
  memory: emptyMemory,
  sleptMs: 0,
  reading: undefined,
  acquiring: undefined,
  resetting: undefined,
  ended: [],
  refused: undefined,
  readFailedAt: 0,
  flights: 0,
};

/** An empty record, and processes that have not begun. */
export function beginningOf({ processes, faults, steps }: MemoryScope, records: Records): MemoryState {
  return {
    time: begun,
    record: records.add(newRecord('epoch', begun)),
    processes: Array.from({ length: processes }, () => nobody),
    tokens: {},
    resets: [],
    faultsLeft: faults,
    stepsLeft: steps,
  };
}

/** A process that has forgotten everything. Its machine goes on. */
export function restartedProcess({ sleptMs, flights }: Process): Process {
  return { ...nobody, sleptMs, flights };
}

/** This moment on the clocks of the machine of a process. */
export function instantAt({ time }: MemoryState, { sleptMs }: Process): Instant {
  return { monotonic: time - begun - sleptMs, wall: time };
}

/** The state with a change of one process. */
export function update(state: MemoryState, index: number, change: Partial<Process>): MemoryState {
  return { ...state, processes: state.processes.map((old, at) => (at === index ? { ...old, ...change } : old)) };
}

/** The state in which a flight has its result, and the process has not used it yet. */
export function landing(
  state: MemoryState,
  index: number,
  kind: FlightKind,
  running: RunningFlight,
  result: FlightEnd,
): MemoryState {
  return update(state, index, { [kind]: { ...running, stage: { name: 'landing', result } } });
}

/** The state, with a mark at each flight that says whether the cached token is still the one with which it began: two tokens may be equal. */
export function marked(state: MemoryState): MemoryState {
  const processes = state.processes.map((process) => {
    const withMark = (running: RunningFlight | undefined) =>
      running && { ...running, isSame: running.flight.cached === process.memory.cached };
    return { ...process, reading: withMark(process.reading), acquiring: withMark(process.acquiring) };
  });
  return { ...state, processes };
}
