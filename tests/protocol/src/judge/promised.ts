import type { Agreements } from './agreements.ts';
import type { Hands } from './hands.ts';
import type { Orders } from './orders.ts';
import type { Resets } from './resets.ts';
import type { Calendar, Circumstances, Issuer, KeptStore, Time } from './scene.ts';
import type { Sights } from './sights.ts';
import type { Standstills } from './standstills.ts';
import type { Usages } from './usages.ts';

/** The place of a run, and what several promises must know of it. */
export interface Scene {
  readonly world: Time;
  readonly settings: Circumstances;
  readonly service: () => Issuer;
  readonly store: () => KeptStore;
  readonly calendars: readonly Calendar[];
  readonly facts: Facts;
}

/** What several promises must know of a run. */
interface Facts {
  readonly agreements: Agreements;
  readonly hands: Hands;
  readonly orders: Orders;
  readonly resets: Resets;
  readonly standstills: Standstills;
  readonly usages: Usages;
  /** This mode never loses a part of the record. */
  readonly isStoreSafe: boolean;
  /** The time that a process has for a token request and its outcome. */
  readonly leaseMs: number;
}

/** A promise: what must be seen to find out that it is broken. Its name says it. */
export type Promised = (scene: Scene, violated: (detail: string) => void) => Partial<Sights>;
