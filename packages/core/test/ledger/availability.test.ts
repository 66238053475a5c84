import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { availableFor, type Purpose, refusalOf } from '../../src/ledger/availability.ts';
import { compact } from '../../src/ledger/condense.ts';
import { decide } from '../../src/ledger/decide.ts';
import type { Caller } from '../../src/ledger/holds.ts';
import { type Limits, limitsFor } from '../../src/ledger/limits.ts';
import type { LedgerRecord } from '../../src/ledger/record.ts';
import { withRetry } from '../../src/ledger/retry.ts';
import { day, hour, minute, noon } from '../support/instants.ts';
import { audienceWith, entryAt, failuresWith, queryFor, recordWith, tokenAt } from '../support/records.ts';

const caller: Caller = { audience: 'orders', keyId: 'key', secretId: 'secret' };
const purposes = ['cold', 'refresh', 'rejected', 'reset'] as const;

/** Asks the decision itself: callers come one after another, each needs a token of its own, and no request is answered yet. */
function admitted(record: LedgerRecord, now: number, purpose: Purpose, limits: Limits, most = 300): number {
  let present = record;
  for (let count = 0; count < most; count++) {
    const asked = withoutToken(present, purpose === 'reset' ? noon : 0);
    const reason = purpose === 'reset' ? 'cold' : purpose;
    const decision = decide(
      asked,
      now,
      queryFor({ ...caller, unreadable: false, reason, id: `caller ${count}` }),
      limits,
    );
    if (decision.kind !== 'write') return count;
    present = decision.record;
  }
  return most;
}

/** Nobody has a token for the audience, and who is getting one does so for another audience. */
function withoutToken(record: LedgerRecord, revoked: number): LedgerRecord {
  const audiences = record.audiences.flatMap((state, index) =>
    state.audience === 'orders'
      ? [
          { ...state, token: undefined, lease: undefined, revoked },
          audienceWith({ audience: `other ${index}`, lease: state.lease }),
        ]
      : [state],
  );
  return { ...record, audiences: audiences.length > 0 ? audiences : [audienceWith({ revoked })] };
}

const age = fc.integer({ min: 0, max: 30 * hour });
const until = fc.oneof(
  fc.constant(0),
  fc.integer({ min: -hour, max: 30 * hour }).map((ms) => noon + ms),
);
const backoff = fc.record({ count: fc.integer({ min: 1, max: 5 }), retryAt: until });
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const anEntry = fc
  .record({ age, pending: fc.boolean(), reason: fc.constantFrom('cold', 'refresh', 'rejected', 'reset') })
  .map(({ age, ...fields }) => entryAt(noon - age, fields as object));
const anAudience = fc
  .record({
    audience: fc.constantFrom('orders', 'invoices'),
    token: maybe(fc.constant(tokenAt(noon - hour, noon + hour))),
    lease: maybe(fc.record({ id: fc.uuid(), generation: fc.constant(noon), until })),
    renewAfter: until,
    unreadableUntil: until,
    credentialsBackoff: maybe(
      fc.record({
        secretId: fc.constantFrom('secret', 'other'),
        status: fc.constant(401),
        count: fc.constant(1),
        retryAt: until,
      }),
    ),
  })
  .map(audienceWith);
const someLimits = fc
  .record({
    tokens: fc.integer({ min: 1, max: 60 }),
    reserve: maybe(fc.constant(0)),
    hourly: maybe(fc.integer({ min: 1, max: 12 })),
    durability: fc.constantFrom('process' as const, 'durable' as const, 'replicated' as const),
  })
  .map(({ tokens, reserve, hourly, durability }) => {
    const windows = [{ tokens, windowMs: day }, ...(hourly ? [{ tokens: hourly, windowMs: hour }] : [])];
    return limitsFor(windows, reserve, durability);
  });
const aRecord = fc
  .record({
    bornBefore: age,
    entries: fc.array(anEntry, { maxLength: 40 }),
    condensed: fc.array(fc.record({ age, pending: fc.boolean(), count: fc.integer({ min: 1, max: 9 }) }), {
      maxLength: 3,
    }),
    audiences: fc.uniqueArray(anAudience, { selector: ({ audience }) => audience }),
    failures: maybe(backoff.map((backoff) => failuresWith(backoff))),
    rateLimit: maybe(backoff),
    deathsAt: until,
    retried: fc.boolean(),
  })
  .map(({ bornBefore, entries, condensed, deathsAt, retried, ...fields }) => {
    const reserved = fields.audiences.flatMap(({ audience, lease }) =>
      lease ? [entryAt(Math.min(noon, lease.until - minute), { id: lease.id, audience, pending: true })] : [],
    );
    const record = recordWith({
      ...fields,
      completeSince: noon - bornBefore,
      entries: [...entries, ...reserved].sort((a, b) => a.at - b.at),
      condensed: condensed.map(({ age, ...bucket }) => ({ ...bucket, at: noon - age })),
      deaths: { count: 3, retryAt: deathsAt, countedUntil: noon - 40 * hour },
    });
    return retried ? withRetry(record, noon - minute) : record;
  });

describe('at any state', () => {
  test('as many callers as are said get a token each, and the next one does not', () => {
    fc.assert(
      fc.property(aRecord, someLimits, fc.constantFrom(...purposes), (known, limits, purpose) => {
        const record = withoutToken(compact(known, noon, limits), 0);
        expect(availableFor(purpose, record, noon, caller, limits)).toBe(admitted(record, noon, purpose, limits));
      }),
      { numRuns: 500 },
    );
  });

  test('a caller that is refused gets a token at the instant that is said, and not before', () => {
    let refusals = 0;
    fc.assert(
      fc.property(aRecord, someLimits, (known, limits) => {
        const record = withoutToken(compact(known, noon, limits), 0);
        const refusal = refusalOf(record, noon, caller, limits);
        expect(refusal === undefined).toBe(admitted(record, noon, 'cold', limits, 1) === 1);
        if (!refusal) return;
        refusals += 1;
        expect(admitted(compact(record, refusal.until, limits), refusal.until, 'cold', limits, 1)).toBe(1);
        expect(refusal.until).toBeGreaterThan(noon);
        // Deaths that nobody counted are forgotten after a day.
        if (refusal.until > noon + 23 * hour) return;
        // The last denial ends at the instant, so the moment before it is denied.
        const before = refusal.until - 1;
        expect(admitted(compact(record, before, limits), before, 'cold', limits, 1)).toBe(0);
      }),
      { numRuns: 500 },
    );
    expect(refusals).toBeGreaterThan(100);
  });
});
