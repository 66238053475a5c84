import type { Clock, StoreDurability } from '@service-auth/core';

/** At most so many tokens in any such window. */
export interface Term {
  readonly tokens: number;
  readonly windowMs: number;
  /** The provider counts every request that arrives. */
  readonly counts?: 'requests';
}

/** The agreement with the provider, as a process is told it. */
export interface Agreement {
  readonly windows: readonly Term[];
  /** Undefined: core's default. */
  readonly reserve: number | undefined;
}

/** True time. */
export interface Time {
  /** Milliseconds since the beginning of the run. */
  readonly now: number;
  /** Adds a line to the trace. */
  note(line: string): void;
}

/** A process on a machine of its own. */
export interface Process {
  readonly name: string;
  readonly alive: boolean;
  readonly clock: Clock;
  /** When it goes on, if it stands still. */
  readonly frozenUntil: number;
  /** For how long its event loop has stood still so far. */
  readonly blockedMs: number;
  /** When its wall clock was set last. */
  readonly wallSetAt: { readonly forward: number; readonly back: number };
}

export interface IssuedToken {
  readonly value: string;
  readonly audience: string;
  /** The process that asked for it. */
  readonly machine: string;
  /** When the request for it left core: what core can count from. */
  readonly requestedAt: number;
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly lifetimeMs: number;
  /** The life that the latest answer stated. */
  readonly statedMs: number;
  readonly revoked: boolean;
}

export interface Issuer {
  readonly issued: readonly IssuedToken[];
  /** The number of tokens that were issued after `since`. */
  issuedSince(since: number): number;
}

/** What is true of a store, whatever it says. */
export interface KeptStore {
  now(): number;
  /** The sum of the steps of its clock, in both directions, and the difference that two of its answers of one moment may have. */
  readonly clockSpreadMs: number;
  /** The time by which its clock was set back without a process noticing it: no expiry can be exact by this time. */
  readonly unnoticedMs: number;
  /** When its clock was set back last, by more than a minute. */
  readonly setBackAt: number;
  /** When it lost something last. */
  readonly lostAt: number;
}

/** A clock of a provider. It names the calendar window that an instant belongs to. */
export interface Calendar {
  readonly name: string;
  labelOf(now: number, windowMs: number): string;
}

/** The faults that allow what is otherwise promised not to happen. */
type KnownFault =
  | `store_clock_${'step' | 'wild' | 'set_back' | 'leap'}`
  | `freeze${'' | '_at_call' | '_at_send'}`
  | 'sleep'
  | 'load_fails_once'
  | 'reset_by_all';

/** What is known of a run before it begins. */
export interface Circumstances {
  readonly processes: number;
  readonly audiences: readonly string[];
  readonly tokens: number;
  readonly durability: StoreDurability;
  /** The first one begins at once. At the beginning of each other one all processes are replaced, one after another. */
  readonly phases: readonly { readonly agreements: readonly Agreement[]; readonly inheriting?: number }[];
  /** Undefined: core's default. */
  readonly timeoutMs?: number | undefined;
  /** The duration of the faults. */
  readonly faultsForMs: number;
  readonly rates: Readonly<Partial<Record<KnownFault, number>>>;
  /** The most tokens that any window may see. */
  readonly bound: number;
  /** The number of times that the store may be wiped, regress or split while a lost entry would have counted. */
  readonly lossesPerWindow: number;
  /** The lead of the store's clock at the start of the run. */
  readonly storeAheadMs: number;
  /** No failure is visible: no call is denied, and no failure is reported. */
  readonly nothingFails?: boolean;
  /** Demand is far below the budget: a caller that asks after the faults is served at once. */
  readonly feasible?: boolean;
  /** No process dies or stands still, and the store never fails: so the record counts what may have been issued, and nothing else. */
  readonly countIsExact?: boolean;
  /** No call of the store fails, so a process that reads the record declares its terms. */
  readonly declares?: boolean;
  /** The endpoint returns one token until that expires, with the life that it has left. */
  readonly repeatsToken?: boolean;
  /** The provider says what it counts. */
  readonly quota?: { readonly isTrue: boolean };
  /** The API of this audience answers 401 to every token. */
  readonly rejecting?: string;
  /** The endpoint fails for these audiences. */
  readonly failing?: { readonly audiences: readonly string[] };
  readonly outage?: object;
  /** Processes begin, ask for a token, and are killed. */
  readonly dying?: object;
}
