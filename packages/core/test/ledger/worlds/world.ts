import { compact } from '../../../src/ledger/compact.ts';
import { partsOf } from '../../../src/ledger/count.ts';
import { decide } from '../../../src/ledger/decide.ts';
import { type LedgerRecord, newRecord } from '../../../src/ledger/journal.ts';
import { type Limits, limitsFor, termLimits } from '../../../src/ledger/limits.ts';
import { reconcile } from '../../../src/ledger/repair.ts';
import { type Answer, settle } from '../../../src/ledger/settle.ts';
import { declare } from '../../../src/ledger/terms.ts';

export const second = 1_000;
export const minute: number = 60 * second;
export const hour: number = 60 * minute;
export const day: number = 24 * hour;

/** What a token request comes to. `none`: it did not reach the endpoint. `dies`: the process dies during it. */
type Ending = 'issued' | 'unknown' | 'refused' | 'none' | 'dies';

/** An endpoint, and a fleet that asks it. Times are milliseconds since the beginning. */
export interface World {
  readonly audiences: number;
  readonly lifeMs: number;
  /** Whether a request for an audience brings a token. */
  works(at: number, audience: number, random: () => number): boolean;
  /** What a request that brings none comes to. Default: `unknown`. */
  readonly fails?: Ending;
  answersProbe(at: number): boolean;
  /** The audiences whose waits are measured, also while they fail. Default: those that work at the moment. */
  measured?(audience: number): boolean;
  /** The tokens expire at different times at first. */
  readonly staggered?: boolean;
  readonly failsAfterMs?: number;
  readonly worksAfterMs?: number;
  readonly leaseMs?: number;
  readonly limits?: Limits;
  /** The record is new. */
  readonly young?: boolean;
  readonly clock?: readonly { readonly at: number; readonly byMs: number }[];
  readonly lengthMs?: number;
}

/** What came of a world. */
export interface Course {
  /** The largest share of the usable tokens that was of unknown outcome. */
  readonly unknownShare: number;
  readonly unknown: number;
  /** The longest time for which an audience that works waited, although the limit had room. */
  readonly waitMs: number;
  readonly issued: number;
  readonly attempts: number;
  /** The longest time for which the limit refused an audience that works. */
  readonly lockedOutMs: number;
}

/** The same numbers for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const beginning = Date.UTC(2026, 0, 1);

/** Lets a fleet live in a world. Each of its processes decides and settles by the record alone. */
export function live(world: World, seed: number): Course {
  const random = randomOf(seed);
  const limits = world.limits ?? limitsFor([{ tokens: 150, windowMs: day }], undefined, 'durable');
  const terms = limits.terms.map((term) => termLimits(term, limits.durability));
  const knownSince = world.young ? beginning : beginning - 30 * day;
  let record: LedgerRecord = declare(newRecord('epoch', knownSince), beginning, limits, 'process');
  let clockMs = 0;
  let ids = 0;
  const events: { at: number; audience: number; run: () => void }[] = [];
  const waitsSince = new Map<number, number>();
  const refusedSince = new Map<number, number>();
  const course = { unknownShare: 0, unknown: 0, waitMs: 0, issued: 0, attempts: 0, lockedOutMs: 0 };
  let at = 0;
  const later = (ms: number, audience: number, run: () => void) => {
    const event = { at: at + Math.max(1, Math.ceil(ms)), audience, run };
    let place = events.length;
    while (place > 0 && (events[place - 1]?.at ?? 0) < event.at) place--;
    events.splice(place, 0, event);
  };
  const write = (next: LedgerRecord) => {
    record = compact({ ...next, sequence: record.sequence + 1 }, beginning + at + clockMs, limits);
  };

  const ask = (audience: number): void => {
    const now = beginning + at + clockMs;
    const works = world.works(at, audience, random);
    measure(audience, works);
    const id = `attempt-${++ids}`;
    const who = { audience: `audience-${audience}`, keyId: 'key', secretId: 'secret', instance: `process-${ids % 7}` };
    const query = {
      ...who,
      id,
      leaseMs: world.leaseMs ?? 40 * second,
      unusable: record.tokens.map((token) => token.id),
      resetUpTo: 0,
    };
    const asked = declare(record, now, limits, 'process');
    const first = decide(asked, now, { ...query, reason: 'cold' }, limits);
    if (first.kind === 'wait' || first.kind === 'deny') {
      const until = first.kind === 'wait' ? first.until : first.denial.retryAt;
      const isLimit = first.kind === 'deny' && first.denial.cause === 'limit';
      const mostMs = first.kind === 'wait' ? 3 * second : minute;
      refused(audience, isLimit);
      later(Math.min(until - now, mostMs) + random() * 5 * second, audience, () => ask(audience));
      return;
    }
    refused(audience, false);
    if (first.kind !== 'write') throw new Error(`unexpected: ${first.kind}`);
    write(first.record);
    const second_ = decide(record, now, { ...query, reason: 'cold' }, limits);
    if (second_.kind !== 'admitted') throw new Error(`unexpected: ${second_.kind}`);
    send(audience, second_.attempt, works);
  };

  const send = (audience: number, attempt: LedgerRecord['attempts'][number], works: boolean): void => {
    course.attempts += 1;
    if (attempt.probed && !world.answersProbe(at)) {
      later(second, audience, () => ended(audience, attempt, 'none'));
      return;
    }
    const ending = works ? 'issued' : (world.fails ?? 'unknown');
    const ms = works ? world.worksAfterMs : world.failsAfterMs;
    if (ending === 'unknown' || ending === 'dies') course.unknown += 1;
    later(ms ?? second, audience, () => ended(audience, attempt, ending));
  };

  const ended = (audience: number, attempt: LedgerRecord['attempts'][number], ending: Ending): void => {
    const now = beginning + at + clockMs;
    if (ending !== 'dies') write(settle(record, now, attempt, answerOf(ending, attempt, now, world.lifeMs)));
    if (ending === 'issued') {
      course.issued += 1;
      measure(audience, true);
      waitsSince.delete(audience);
      later(world.lifeMs * 0.85, audience, () => ask(audience));
      return;
    }
    if (waitsSince.has(audience)) waitsSince.set(audience, at);
    later(random() * 5 * second, audience, () => ask(audience));
  };

  const measure = (audience: number, works: boolean): void => {
    if (!(world.measured ? world.measured(audience) : works)) {
      waitsSince.delete(audience);
      return;
    }
    const since = waitsSince.get(audience) ?? at;
    waitsSince.set(audience, since);
    course.waitMs = Math.max(course.waitMs, at - since);
  };

  const refused = (audience: number, byLimit: boolean): void => {
    if (!byLimit) {
      refusedSince.delete(audience);
      return;
    }
    if (!waitsSince.has(audience)) return;
    const since = refusedSince.get(audience) ?? at;
    refusedSince.set(audience, since);
    course.lockedOutMs = Math.max(course.lockedOutMs, at - since);
    waitsSince.set(audience, at);
  };

  const look = (): void => {
    const now = beginning + at + clockMs;
    for (const term of terms) {
      const unknown = partsOf(record, now, term).filter((part) => part.unknown);
      const count = unknown.reduce((sum, part) => sum + part.count, 0);
      course.unknownShare = Math.max(course.unknownShare, count / term.usable);
    }
    later(10 * minute, -1, look);
  };

  for (let audience = 0; audience < world.audiences; audience++) {
    const firstMs = world.staggered ? random() * world.lifeMs : random() * 5 * second;
    later(firstMs, audience, () => ask(audience));
  }
  for (const step of world.clock ?? []) {
    later(step.at, -1, () => {
      const before = beginning + at + clockMs;
      clockMs += step.byMs;
      const seen = {
        epoch: record.epoch,
        sequence: record.sequence,
        record,
        now: before,
        ledgerNow: before,
        elapsedMs: 0,
        maxElapsedMs: 0,
      };
      record = reconcile(record, seen, before + step.byMs, 'another epoch', limits).record;
    });
  }
  later(10 * minute, -1, look);
  const length = world.lengthMs ?? 30 * hour;
  for (let event = events.pop(); event && event.at < length; event = events.pop()) {
    at = event.at;
    event.run();
  }
  return course;
}

function answerOf(
  ending: Exclude<Ending, 'dies'>,
  attempt: LedgerRecord['attempts'][number],
  now: number,
  lifetimeMs: number,
): Answer {
  switch (ending) {
    case 'issued': {
      const { audience, keyId, id, generation } = attempt;
      const expiresAt = now + lifetimeMs;
      return {
        kind: 'issued',
        token: { audience, keyId, id, generation, expiresAt, aheadMs: 0, lifetimeMs, sealed: 'sealed' },
      };
    }
    case 'unknown':
      return { kind: 'ambiguous', charge: 1 };
    case 'refused':
      return { kind: 'released', cause: 'credentials', status: 403 };
    case 'none':
      return { kind: 'released', cause: 'unreachable' };
  }
}
