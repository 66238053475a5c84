import { second } from './judge/units.ts';
import type { Machine } from './machine.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

/** The faults of one call, or during one. */
export const callFaults = [
  'store_refused',
  'load_fails_once',
  'store_request_lost',
  'store_request_late',
  'store_duplicated',
  'store_reply_lost',
  'store_reply_late',
  'store_reply_error',
  'token_unreachable',
  'token_request_lost',
  'token_request_late',
  'token_reply_lost',
  'token_reply_late',
  'token_5xx_before',
  'token_5xx_after',
  'token_broken_after',
  'token_answer_thrown',
  'token_refusal_endless',
  'token_garbled',
  'token_cached',
  'token_refused',
  'token_rate_limited',
  'token_unavailable',
  'token_redirected',
  'crash_at_call',
  'crash_at_send',
  'freeze_at_call',
  'freeze_at_send',
  'sleep_at_call',
  'sleep_at_send',
  'blocked_at_call',
  'blocked_at_send',
  'api_401',
  'caller_aborts',
  'secret_source_fails',
  'random_repeated',
] as const;

/** The faults that can occur at any time. */
export const timedFaults = [
  'crash',
  'freeze',
  'sleep',
  'sleep_long',
  'close',
  'wall_clock_step',
  'blocked',
  'partition',
  'store_outage',
  'endpoint_outage',
  'store_clock_step',
  'store_clock_wild',
  'store_clock_set_back',
  'store_clock_set_right',
  'store_clock_leap',
  'store_wiped',
  'store_regressed',
  'store_restored',
  'spent_said',
  'spent_said_falsely',
  'store_discards',
  'split_brain',
  'retry_ordered',
  'tokens_exchanged',
  'reset',
  'reset_by_all',
  'revoked',
  'secret_rotated',
] as const;

export type CallFault = (typeof callFaults)[number];
export type TimedFault = (typeof timedFaults)[number];
export type Fault = CallFault | TimedFault;

/** The frequency: a probability per call, or a mean number per window and fleet. */
export type Rates = Partial<Readonly<Record<Fault, number>>>;

/** Decides what goes wrong, and counts it. */
export interface Dice {
  /** True if this happens to this call. */
  roll(fault: CallFault): boolean;
  /** The time until the next one; undefined: never. */
  nextIn(fault: TimedFault): number | undefined;
  /** True if a fault that is due may happen. */
  strike(fault: TimedFault): boolean;
  /** The randomness of this kind of fault: what one kind draws changes nothing for another. */
  of(fault: Fault): Random;
  /** No more of anything. */
  stop(): void;
  /** Counts something worth knowing that is no fault. */
  count(what: string): void;
  readonly counts: ReadonlyMap<string, number>;
  /** Faults so far. */
  readonly total: number;
}

/** Makes a run smaller: what the shrinker turns off. */
export interface Reduction {
  readonly without?: readonly Fault[] | undefined;
  /** Only so many faults, then none. */
  readonly maxFaults?: number | undefined;
}

/** Creates the dice of one run: half of the kinds never happen in it, the others more or less often than `rates` says. */
export function createDice(world: World, random: Random, rates: Rates, windowMs: number, reduction: Reduction): Dice {
  const counts = new Map<string, number>();
  const sources = new Map<Fault, { random: Random; rate: number }>();
  let stopped = false;

  for (const [fault, rate] of Object.entries(rates) as [Fault, number][]) {
    const source = random.fork(fault);
    const enabled = source.chance(0.6) && !reduction.without?.includes(fault);
    sources.set(fault, { random: source, rate: enabled ? rate * 4 ** source.between(-1, 1) : 0 });
  }

  const of = (fault: Fault) => {
    const source = sources.get(fault) ?? { random: random.fork(fault), rate: 0 };
    sources.set(fault, source);
    return source.random;
  };

  function happens(fault: Fault): boolean {
    if (stopped || dice.total >= (reduction.maxFaults ?? Number.POSITIVE_INFINITY)) return false;
    dice.total += 1;
    counts.set(fault, (counts.get(fault) ?? 0) + 1);
    world.note(`FAULT ${fault}`);
    return true;
  }

  const dice = {
    counts,
    total: 0,
    roll(fault: CallFault) {
      const source = sources.get(fault);
      return source !== undefined && source.rate > 0 && source.random.chance(source.rate) && happens(fault);
    },
    nextIn(fault: TimedFault) {
      const source = sources.get(fault);
      if (source === undefined || source.rate <= 0) return undefined;
      return (-Math.log(1 - source.random.next()) * windowMs) / source.rate;
    },
    strike: happens,
    of,
    stop() {
      stopped = true;
    },
    count(what: string) {
      counts.set(what, (counts.get(what) ?? 0) + 1);
    },
  };
  return dice;
}

/** Standing still or dying just before or just after a call leaves. Says whether it leaves. */
export function interrupt(dice: Dice, machine: Machine, at: 'call' | 'send', maxMs: number): boolean {
  if (dice.roll(`freeze_at_${at}`)) machine.freeze(dice.of(`freeze_at_${at}`).between(second, maxMs));
  if (dice.roll(`sleep_at_${at}`)) machine.sleep(dice.of(`sleep_at_${at}`).between(second, maxMs));
  if (dice.roll(`blocked_at_${at}`)) machine.block(dice.of(`blocked_at_${at}`).between(1, 30) * second);
  if (!dice.roll(`crash_at_${at}`)) return true;
  machine.kill();
  return dice.of(`crash_at_${at}`).chance(0.6);
}
