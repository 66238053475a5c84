import type { Incident } from './settings.ts';

/** `used`: a process has the token in memory. The others are in no memory: `rejected`, because the API answered 401; `expired`; or `left`, with life left. */
type SlotState = 'used' | 'left' | 'rejected' | 'expired';

/** One token that the provider issued. */
export interface Slot {
  /** Milliseconds since midnight. */
  readonly at: number;
  /** The process that requested it. */
  readonly process: string;
  readonly state: SlotState;
}

/** `down`: the process starts. `failing`: its last call of the API failed. */
export type ProcessState = 'down' | 'calling' | 'failing';

/** One process of a fleet. */
export interface ProcessPicture {
  readonly state: ProcessState;
  /** How the process came by the token in its memory. Undefined: it has none. */
  readonly token: 'requested' | 'adopted' | undefined;
}

/** A fleet, as its provider and its processes see it. */
export interface FleetPicture {
  /** The tokens that the provider issued in the window up to now. */
  readonly slots: readonly Slot[];
  /** What the provider counts in this window: the tokens, or all requests for one. */
  readonly spent: number;
  /** When each token of the day was issued, in milliseconds since midnight. */
  readonly issuedAt: readonly number[];
  readonly processes: readonly ProcessPicture[];
  /** The tokens to which the API answered 401, also if a process still has them. */
  readonly rejected: number;
  /** The token requests that the provider answered with 429. */
  readonly refused: number;
  /** When it answered so for the first time, in milliseconds since midnight. */
  readonly refusedAt: number | undefined;
  /** When it answered so for the first time because the limit of 24 hours was spent. */
  readonly lockedOutAt: number | undefined;
  /** The calls of the API that were answered 200, and all others. */
  readonly answered: number;
  readonly failed: number;
}

/** An event of core, in a process. */
export interface LogEntry {
  readonly at: number;
  readonly process: string;
  readonly type: string;
  readonly reason: string | undefined;
}

/** A moment of the day. */
export interface Picture {
  /** Milliseconds since midnight. */
  readonly now: number;
  readonly limit: number;
  readonly ours: FleetPicture & {
    /** What is spent in the window, by the count of core. */
    readonly counted: number;
    /** The tokens that core may use: the limit less its reserve. */
    readonly usable: number;
    /** How often a process took a token that another one had requested. */
    readonly adopted: number;
  };
  readonly naive: FleetPicture;
  /** The newest events first. */
  readonly log: readonly LogEntry[];
  /** Everything that happened so far, with what the seed chose. */
  readonly incidents: readonly Incident[];
}
