import type { StoreDurability } from '@service-auth/core';
import { usableOf } from '../judge/numbers.ts';
import { hour, second } from '../judge/units.ts';
import type { Random } from '../random.ts';
import type { Term } from '../settings.ts';

/**
 * How a token request ends that brings no token. `failed`: answered 503. `silent`: not answered. `refused`: the client may not have this audience.
 * `unreachable`: there is no connection. `killed`: its process is killed while it waits.
 */
export type Failure = 'failed' | 'silent' | 'refused' | 'unreachable' | 'killed';

/** What a world came to, rounded up. */
export type Figures = Readonly<Record<string, number>>;

/** A step of the store's clock. */
interface ClockStep {
  readonly atMs: number;
  readonly byMs: number;
}

/** A fleet and a token endpoint that fails it. Instants count from the beginning of the outage; audiences are numbers from 0 on. */
export interface OutageWorld {
  readonly name: string;
  readonly audiences: number;
  /** The life of a token. */
  readonly lifeMs: number;
  readonly lastsMs: number;
  /** The share of the requests for an audience that bring a token. */
  works(audience: number, atMs: number): number;
  /** How the other requests for an audience end. */
  fails(audience: number): Failure;
  readonly windows: readonly Term[];
  readonly durability: StoreDurability;
  /** The audiences have tokens when the outage begins, which end one after another. */
  readonly isStaggered: boolean;
  /** The record begins with the outage. */
  readonly isYoung: boolean;
  /** Each of so many processes asks for all audiences. Undefined: each asks for one, and there are at least ten. */
  readonly processes: number | undefined;
  readonly timeoutMs: number;
  /** A process stands still for so long when it has sent a request: its lease ends before it learns the outcome. */
  readonly standsStillMs: number;
  readonly clockSteps: readonly ClockStep[];
}

/** More than any world needs. */
export const maxEvents = 50_000_000;

/** What a world is like if nothing else is said. */
export const usualWorld: Omit<OutageWorld, 'name' | 'audiences' | 'lifeMs' | 'works'> = {
  lastsMs: 30 * hour,
  fails: () => 'failed',
  windows: [{ tokens: 150, windowMs: 24 * hour }],
  durability: 'durable',
  isStaggered: false,
  isYoung: false,
  processes: 3,
  timeoutMs: 30 * second,
  standsStillMs: 0,
  clockSteps: [],
};

/** The tokens of a window that a fleet may have issued while its record is like this. */
export function mayIssue({ durability, isYoung }: OutageWorld, { tokens }: Term): number {
  const usable = usableOf(tokens, undefined, durability);
  return isYoung ? tokens - usable : usable;
}

/** A request ends like this. Undefined: it brings a token. */
export function endOf(world: OutageWorld, audience: number, atMs: number, random: Random): Failure | undefined {
  const share = world.works(audience, atMs);
  return share === 1 || (share > 0 && random.chance(share)) ? undefined : world.fails(audience);
}
