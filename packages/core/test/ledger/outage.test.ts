import { describe, expect, test } from 'vitest';
import type { Attempt, IssuanceReason, LedgerRecord } from '../../src/ledger/journal.ts';
import { termLimits } from '../../src/ledger/limits.ts';
import { withRetry } from '../../src/ledger/orders.ts';
import { pace } from '../../src/ledger/pace.ts';
import { day, hour, minute, second } from '../support/instants.ts';
import { attemptAt, recordWith, unknownAt, usual } from './support/attempts.ts';
import { noon } from './support/history.ts';

const paced = (record: LedgerRecord, audience = 'orders', now = noon, reason: IssuanceReason = 'cold') =>
  pace(record, now, { audience, keyId: 'key', secretId: 'secret' }, reason, usual);
const waitOf = (record: LedgerRecord, audience: string, reason?: IssuanceReason) =>
  Math.max(0, ...paced(record, audience, noon, reason).holds.map(({ until }) => until - noon));

/** A request that failed, late in a row of failures. */
const failedAt = (at: number, audience = 'orders', fields: Partial<Attempt> = {}) =>
  attemptAt(at, { id: `${audience} ${at}`, audience, streak: 9, fleetStreak: 9, ...unknownAt(at), ...fields });
const open = attemptAt(noon - second, { audience: 'stock', until: noon + minute, outcome: undefined });

describe('an audience that failed', () => {
  test('more than two days ago asks beside the others', () => {
    const waitsUntil = (days: number) => paced(recordWith([failedAt(noon - days * day), open])).waitsUntil;
    expect([1, 3].map(waitsUntil)).toEqual([noon + minute, 0]);
  });

  test('does not begin anew while others fail, which held it up', () => {
    const failed = failedAt(noon - 3 * hour);
    const streakOf = (attempts: readonly Attempt[]) => paced(recordWith(attempts)).carried.streak;
    expect(streakOf([failed])).toBe(0);
    expect(streakOf([failed, failedAt(noon - minute, 'stock')])).toBe(10);
  });
});

describe('audiences that did not fail', () => {
  const failed = [failedAt(noon - 2 * minute), failedAt(noon - 2 * minute + 1, 'invoices')];

  test('wait with all others until anybody gets a token', () => {
    expect(waitOf(recordWith(failed), 'another')).toBeGreaterThan(6 * minute);
    const token = attemptAt(noon - minute, { audience: 'stock' });
    expect(waitOf(recordWith([...failed, token]), 'another')).toBe(0);
  });

  test('may go after a probe that was answered in vain, too, while less than three eighths is of unknown outcome', () => {
    const wait = (count: number) => {
      const attempts = Array.from({ length: count }, (_, index) =>
        failedAt(noon - count + index, index % 2 ? 'orders' : 'invoices', { probed: true }),
      );
      return Math.round(waitOf(recordWith(attempts), 'another') / minute);
    };
    expect([31, 44, 46].map(wait)).toEqual([10, 10, 108]);
  });
});

test('the pause that spares the budget ends when less than a quarter of it is of unknown outcome', () => {
  const [term] = usual.terms;
  if (!term) throw new Error('there is no term');
  const { pendingMs } = termLimits(term, 'durable');
  const soonGone = Array.from({ length: 30 }, (_, index) => failedAt(noon + 20 * minute - pendingMs + index));
  const record = recordWith([...soonGone, failedAt(noon)]);
  // Thirty are a quarter of what is usable, so two have to leave the window.
  expect(paced(record, 'orders', noon + 16 * minute).probesUntil).toBe(noon + 20 * minute + 1);
});

test('after a refusal of the client one request at a time shows whether it is accepted again', () => {
  const refused = (status: number) =>
    attemptAt(noon - 5 * minute, {
      outcome: {
        ...{ kind: 'refused', status, code: status === 403 ? 'access_denied' : 'invalid_client' },
        ...{ at: noon - 5 * minute, charge: 0, count: 1, holdUntil: noon },
      },
    });
  const waitsUntil = (status: number) => paced(recordWith([refused(status), open]), 'another').waitsUntil;
  expect([401, 403].map(waitsUntil)).toEqual([noon + minute, 0]);
});

test('an order to try again does not pass over the share of renewals after 401s', () => {
  const renewals = Array.from({ length: 20 }, (_, index) =>
    attemptAt(noon - 20 * hour + index * minute, { reason: 'rejected' }),
  );
  const ordered = withRetry(recordWith(renewals), noon, { id: 'order', by: 'somebody' });
  expect(waitOf(ordered, 'orders', 'rejected')).toBeGreaterThan(4 * hour);
});
