import type { IssuanceLimit } from '@service-auth/core';
import { type Rates, timedFaults } from './faults.ts';
import { usableOf, usual } from './judge/numbers.ts';
import type { Agreement, Circumstances, Term } from './judge/scene.ts';
import { day, hour, minute, second } from './judge/units.ts';
import type { Random } from './random.ts';

export type { Agreement, Term };

/** From then on processes are given these agreements, one after the other. */
export interface Phase {
  readonly fromMs: number;
  readonly agreements: readonly Agreement[];
  /** The lifetime of a token, if it is not that of the settings. */
  readonly lifetimeMs?: number;
  /** So many of the processes state no agreement: they inherit it. Default 0. */
  readonly inheriting?: number;
}

/** How the provider speaks of its own count. */
export interface QuotaSettings {
  /** False: nothing that it says is true. */
  readonly isTrue: boolean;
  /** The mean time between tokens that somebody without the store gets. */
  readonly foreignEveryMs: number;
}

/** The behaviour of the token endpoint. `slow`: it issues tokens, and answers after most of those who ask have died. `unavailable`: it says for how long. */
export type EndpointState =
  | ('up' | 'slow' | 'silent' | 'unreachable' | 'failing')
  | ('page' | 'missing' | 'forbidden' | 'limited' | 'unavailable');

/** From then on the endpoint is in this state towards the requests for these audiences. */
export interface FailingAudiences {
  readonly fromMs: number;
  readonly audiences: readonly string[];
  readonly state: EndpointState;
}

/** Everything that is fixed before a run begins. */
export interface Settings extends Circumstances {
  readonly phases: readonly Phase[];
  readonly windowMs: number;
  /** Undefined: core's default. */
  readonly reserve: number | undefined;
  readonly lifetimeMs: number;
  /** The mean time between calls of one process. */
  readonly callEveryMs: number;
  readonly rates: Rates;
  /** The longest that a token request may stand still before it leaves, and the longest that it may be under way. */
  readonly maxFreezeMs: number;
  readonly maxQueueMs: number;
  /** The number of tokens by which a false word about the past is false. */
  readonly saidFalselyBy?: number;
  /** The clock of the store is the date of HTTP answers. */
  readonly clockIsCoarse?: boolean;
  /** The number of audiences for which one process asks for tokens at one moment. */
  readonly callsAtOnce?: number;
  /** The largest record that the store keeps. Undefined: core's default. */
  readonly maxRecordBytes?: number;
  /** The provider says with half of its answers what it counts. Undefined: it never does. */
  readonly quota?: QuotaSettings;
  /** Tokens have up to so many more characters. */
  readonly maxPadding?: number;
  /** From then on, until faults end, the endpoint is in this state, for all or for these audiences. */
  readonly outage?: { readonly fromMs: number; readonly state: EndpointState };
  readonly failing?: FailingAudiences;
  /** From then on, until faults end, processes begin, ask for a token, and are killed. */
  readonly dying?: { readonly fromMs: number; readonly everyMs: number; readonly livesMs: number };
}

const network: Rates = {
  ...{ store_refused: 0.01, store_request_lost: 0.01, store_request_late: 0.01, store_duplicated: 0.01 },
  ...{ store_reply_lost: 0.015, store_reply_late: 0.01, store_reply_error: 0.01 },
  ...{ token_unreachable: 0.03, token_request_lost: 0.03, token_request_late: 0.04, token_reply_lost: 0.04 },
  ...{ token_reply_late: 0.03, token_5xx_before: 0.03, token_5xx_after: 0.04, token_broken_after: 0.02 },
  ...{ token_refusal_endless: 0.003, token_garbled: 0.01, token_refused: 0.005, token_rate_limited: 0.01 },
  ...{ token_redirected: 0.005, partition: 1.5, store_outage: 1, endpoint_outage: 1 },
};

const processes: Rates = {
  ...{ crash: 5, crash_at_call: 0.01, crash_at_send: 0.05, close: 2, wall_clock_step: 3 },
  ...{ freeze: 5, freeze_at_call: 0.01, freeze_at_send: 0.03 },
};

const people: Rates = {
  ...{ api_401: 0.01, caller_aborts: 0.05, secret_source_fails: 0.002 },
  ...{ reset: 2, revoked: 0.5, secret_rotated: 0.3 },
};

/** No process ends or restarts. */
export const undying: Rates = { crash: 0, crash_at_call: 0, crash_at_send: 0, close: 0, secret_rotated: 0 };

/** All that may go wrong within the assumptions, short of losing the store. */
export const everything: Rates = { ...network, ...processes, ...people, store_clock_step: 5 };

/** The faults of any time, at a fraction of their rate: for runs of many windows. */
export function rarer(factor: number): Rates {
  const timed = timedFaults.map((fault) => [fault, (everything[fault] ?? 0) * factor] as const);
  return { ...everything, ...Object.fromEntries(timed) };
}

export function phaseAt({ phases }: Settings, now: number): Phase {
  return phases.findLast(({ fromMs }) => fromMs <= now) as Phase;
}

/** The lengths of all windows of all processes. */
export function windowsOf({ phases }: Settings): number[] {
  return phases.flatMap(({ agreements, inheriting }) => {
    const inherited = inheriting ? [usual] : [];
    return [...inherited, ...agreements.flatMap(({ windows }) => windows)].map(({ windowMs }) => windowMs);
  });
}

/** The option that states an agreement: with one window, its short form. */
export function limitOf({ windows, reserve }: Agreement): IssuanceLimit {
  const [only] = windows;
  return only && windows.length === 1 ? { ...only, reserve } : { windows, reserve };
}

export function audiencesOf(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `api ${index}`);
}

/** A window of one hour, with pauses and delays in proportion. */
export const hourly: Partial<Settings> = { windowMs: hour, maxFreezeMs: 2.5 * minute, maxQueueMs: minute };

/** Draws every setting that is not given. */
export function drawn(random: Random, given: Partial<Settings>): Settings {
  const windowMs = given.windowMs ?? day;
  const scale = windowMs / day;
  const tokens = given.tokens ?? random.pick([1, 2, 3, 5, 8, 11, 12, 12, 12, 24]);
  const reserve = 'reserve' in given ? given.reserve : 0;
  const durability = given.durability ?? 'durable';
  return {
    processes: random.integer(2, 4),
    audiences: tokens < 5 || random.chance(0.75) ? ['api'] : ['api', 'other api'],
    windowMs,
    tokens,
    reserve,
    durability,
    lifetimeMs: Math.round((random.between(0.7, 3) * 3_600 * scale * 12) / Math.max(12, tokens)) * second,
    callEveryMs: random.between(15, 150) * minute * scale,
    // A little more than a window shows most; some runs see an entry leave twice.
    faultsForMs: (1.1 + 1.9 * random.next() ** 8) * windowMs,
    rates: everything,
    bound: usableOf(tokens, reserve, durability),
    maxFreezeMs: 50 * minute * scale,
    maxQueueMs: 25 * minute * scale,
    lossesPerWindow: 0,
    storeAheadMs: 0,
    phases: [{ fromMs: 0, agreements: [{ windows: [{ tokens, windowMs }], reserve }] }],
    ...given,
  };
}

/** Demand of about 1.2 tokens per lifetime and audience fits three times over. */
export function feasible(random: Random): Pick<Settings, 'tokens' | 'lifetimeMs' | 'feasible'> {
  const tokens = random.pick([24, 40, 60]);
  return { tokens, lifetimeMs: Math.round(random.between(12, 24) * 3_600) * second, feasible: true };
}
