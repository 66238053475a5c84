import { describe, expect, test } from 'vitest';
import { withDeaths } from '../../src/ledger/deaths.ts';
import type { LedgerRecord } from '../../src/ledger/record.ts';
import { hour, minute, noon, second } from '../support/instants.ts';
import { audienceWith, entriesAt, entryAt, recordWith, usualLimits } from '../support/records.ts';

const leaseUntil = (until: number, id = 'mine') => ({ id, generation: 9, until });
/** A record with one lease that was reserved a minute before it ends. */
const leased = (until: number, fields: Partial<LedgerRecord> = {}) =>
  recordWith({
    entries: [entryAt(until - minute, { id: 'mine', pending: true })],
    audiences: [audienceWith({ lease: leaseUntil(until) })],
    ...fields,
  });
const deaths = (count: number, retryAt: number, countedUntil: number) => ({ count, retryAt, countedUntil });
const counted = (record: LedgerRecord, now = noon) => withDeaths(record, now, usualLimits).deaths;

describe('a lease', () => {
  test('that runs tells of no death, and one that ended of one', () => {
    const record = leased(noon + 1);
    expect(withDeaths(record, noon, usualLimits)).toBe(record);
    expect(counted(record, noon + 1)).toEqual(deaths(1, noon + 1, noon + 1));
  });

  test('is counted once', () => {
    const record = withDeaths(leased(noon), noon, usualLimits);
    expect(withDeaths(record, noon + hour, usualLimits)).toBe(record);
  });

  test('stays in the record: later generations go by it', () => {
    expect(withDeaths(leased(noon), noon, usualLimits).audiences).toEqual(leased(noon).audiences);
  });

  test('that ran beside one that was counted is the same death', () => {
    const record = leased(noon, { deaths: deaths(3, noon + hour, noon - second) });
    expect(withDeaths(record, noon, usualLimits)).toBe(record);
    const later = leased(noon, { deaths: deaths(3, noon, noon - minute) });
    expect(counted(later).count).toBe(4);
  });

  test('that began before another one ended does not hide those that begin later', () => {
    const audiences = ['orders', 'invoices', 'stock'];
    let record = recordWith();
    // Three audiences ask in turn, every 20 seconds, and each request ends a minute later.
    for (let at = noon; at < noon + 10 * minute; at += 20 * second) {
      const audience = audiences[(at / (20 * second)) % 3] as string;
      const known = withDeaths(record, at, usualLimits);
      const others = known.audiences.filter((state) => state.audience !== audience);
      const lease = leaseUntil(at + minute, `${at}`);
      record = {
        ...known,
        entries: [...known.entries, entryAt(at, { id: lease.id, audience, pending: true })],
        audiences: [...others, audienceWith({ audience, lease })],
      };
    }
    expect(record.deaths.count).toBeGreaterThan(5);
  });

  test('whose entry was added up still counts', () => {
    expect(counted(leased(noon, { entries: [] })).count).toBe(1);
  });
});

describe('the pause', () => {
  test('begins with the third death, at the end of its lease, and doubles up to 15 minutes', () => {
    const pauses = [0, 1, 2, 3, 4, 5, 6, 7, 100].map((count) => {
      const record = leased(noon - second, { deaths: deaths(count, noon - 2 * minute, noon - 2 * minute) });
      return (Math.max(counted(record).retryAt, noon - second) - noon + second) / minute;
    });
    expect(pauses).toEqual([0, 0, 1, 2, 4, 8, 15, 15, 15]);
  });

  test('has ten minutes at most if there are several audiences', () => {
    const audiences = [audienceWith({ lease: leaseUntil(noon) }), audienceWith({ audience: 'another' })];
    expect(counted(leased(noon, { audiences, deaths: deaths(100, noon - minute, noon - minute) })).retryAt).toBe(
      noon + 10 * minute,
    );
  });

  test('is forgotten when no process died for an hour in which a request was allowed', () => {
    const reservedAt = noon - minute;
    const after = (retryAt: number) => counted(leased(noon, { deaths: deaths(7, retryAt, retryAt) })).count;
    expect(after(reservedAt - hour)).toBe(8);
    expect(after(reservedAt - hour - 1)).toBe(1);
  });

  test('spares the budget from a quarter of unknown outcome on, however few died', () => {
    const record = leased(noon, { entries: entriesAt(noon - hour, 30, { pending: true }) });
    expect(counted(record).retryAt).toBe(noon + (27 * hour) / 30);
  });

  test('is never cut short', () => {
    expect(counted(leased(noon, { deaths: deaths(1, noon + hour, 0) })).retryAt).toBe(noon + hour);
  });
});
