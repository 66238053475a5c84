import { expect, test, vi } from 'vitest';
import { decodeRecord, encodeRecord } from '../../src/ledger/codec.ts';
import { fitted, hasRoom, roomExpectedAt } from '../../src/ledger/compact.ts';
import { decide } from '../../src/ledger/decide.ts';
import { refusedUntil } from '../../src/ledger/forecast.ts';
import { day, hour, minute, noon, second } from '../support/instants.ts';
import {
  issuedAt,
  openAt,
  queryFor,
  recordWith,
  several,
  situationOf,
  tokenWith,
  used,
  usual,
} from './support/records.ts';

const tokens = several(40, (index) =>
  tokenWith({
    ...{ name: `name ${index}`, id: `${index}`, generation: noon - index, lifetimeMs: day },
    ...{ expiresAt: noon + (index - 5) * minute, sealed: 's'.repeat(1_500 + index) },
  }),
);
const spent = tokens.map(({ name, id, generation }) => issuedAt(generation, { id, name }));
const record = recordWith(spent, { tokens });
const limitsWith = (maxBytes: number) => ({ ...usual, maxBytes });

test('a record is never larger than its store allows, and keeps everything that counts', () => {
  for (const maxBytes of [70_000, 55_000, 30_000, 15_000]) {
    const { record: kept, text } = fitted(situationOf(record, noon, limitsWith(maxBytes)));
    expect(text.length).toBeLessThanOrEqual(maxBytes);
    expect(decodeRecord(text)).toEqual(kept);
    expect(used(kept, noon, usual)).toBe(40);
  }
});

test('a record that is too large loses its expired tokens first, and then its largest ones', () => {
  const bytes = fitted(situationOf(record)).text.length;
  const idsIn = (maxBytes: number) =>
    fitted(situationOf(record, noon, limitsWith(maxBytes))).record.tokens.map(({ id }) => id);
  const ids = tokens.map(({ id }) => id);
  expect([idsIn(bytes), idsIn(bytes - 1)]).toEqual([ids, ids.slice(6)]);
  const live = fitted(situationOf({ ...record, tokens: tokens.slice(6) })).text.length;
  expect(idsIn(live - 4_000)).toEqual(ids.slice(6, -3));
});

test('a record has room for the token of each request that is under way', () => {
  const asking = (count: number) => {
    const open = several(count, (index) => openAt(noon + index, { name: `new ${index}`, until: noon + minute }));
    return { ...record, spent: [...spent, ...open] };
  };
  const bytes = fitted(situationOf({ ...record, tokens: tokens.slice(6) })).text.length;
  const fits = (count: number, maxBytes: number) =>
    hasRoom(situationOf(asking(count), noon + second, limitsWith(maxBytes)));
  expect([fits(1, bytes + 9_000), fits(1, bytes), fits(15, bytes + 9_000)]).toEqual([true, false, false]);
  expect(hasRoom(situationOf(asking(15)))).toBe(true);
  const limits = limitsWith(bytes + 9_000);
  expect(decide(situationOf(asking(14), noon + second, limits), queryFor({ name: 'new' }))).toMatchObject({
    kind: 'deny',
    denial: { cause: 'full', retryAt: noon + second + minute },
  });
  const query = queryFor({ name: 'name 10', unusable: ['10'] });
  expect(decide(situationOf(record, noon, limitsWith(bytes)), query).kind).toBe('reserve');
});

test('a record has room if the store keeps its text, whatever characters its names have, and is refused if it does not', () => {
  const names = ['orders', 'Aufträge', '注文', '\u0007"\\', '😀'];
  const named = recordWith(
    names.map((name, index) => issuedAt(noon + index, { name })),
    {
      tokens: names.map((name, index) => tokenWith({ name, id: `${index}`, generation: noon + index })),
      states: Object.fromEntries(names.map((name) => [name, { resetUpTo: noon - day }])),
    },
  );
  const bytes = Buffer.byteLength(encodeRecord(named));
  const fits = (maxBytes: number) => hasRoom(situationOf(named, noon, limitsWith(maxBytes)));
  expect([fits(bytes - 1), fits(bytes + 40)]).toEqual([false, true]);
});

test('a decision encodes what is new in a record, not the tokens and requests that it knows', () => {
  const encodedBy = (one: typeof record) => {
    using stringify = vi.spyOn(JSON, 'stringify');
    hasRoom(situationOf(one));
    return stringify.mock.results.reduce((sum, { value }) => sum + value.length, 0);
  };
  const before = recordWith(spent, { tokens: tokens.slice(6).map((token) => ({ ...token })) });
  const next = { ...before, spent: [...spent, openAt(noon)], tokens: [...before.tokens, tokenWith({})] };
  expect(encodedBy(before)).toBeGreaterThan(50_000);
  expect(encodedBy(next)).toBeLessThan(2_000);
});

test('a record keeps room for a token that is as large as its largest one', () => {
  const large = recordWith([openAt(noon)], { tokens: [tokenWith({ sealed: 's'.repeat(20_000) })] });
  const fits = (one: typeof large, maxBytes: number) => hasRoom(situationOf(one, noon, limitsWith(maxBytes)));
  expect([fits(large, 40_000), fits(large, 42_000)]).toEqual([false, true]);
  const small = recordWith([openAt(noon)]);
  expect([fits(small, 2_000), fits(small, 3_000)]).toEqual([false, true]);
});

test('a full record may have room when a token has expired or a request has ended, and in an hour at the latest', () => {
  const late = [tokenWith({ expiresAt: noon + day })];
  const expected = (fields: object, rows: readonly (typeof spent)[number][] = []) =>
    roomExpectedAt(recordWith(rows, fields), noon);
  expect(expected({ tokens: late }, [openAt(noon, { until: noon + 3 * minute })])).toBe(noon + 3 * minute);
  expect(expected({ tokens: late })).toBe(noon + hour);
  expect(expected({ tokens: [tokenWith({ expiresAt: noon + second }), ...late] })).toBe(noon + minute);
  expect(expected({ tokens: [tokenWith({ expiresAt: noon - second })] })).toBe(noon + hour);
});

test('a caller whose token has no room in the record is refused until it may have', () => {
  const caller = { name: 'new', keyId: 'key', secretId: 'secret' };
  const full = limitsWith(fitted(situationOf(record)).text.length - 10_000);
  expect(refusedUntil(situationOf(record), caller)).toBeUndefined();
  expect(refusedUntil(situationOf(record, noon, full), caller)).toEqual({ until: noon + minute, cause: 'full' });
  expect(refusedUntil(situationOf(record, noon, full), { ...caller, name: 'name 10' })).toBeUndefined();
  expect(refusedUntil(situationOf(record, noon, full), caller, 'reset')).toBeUndefined();
  const later = { until: noon + 5 * minute, at: noon, kind: 'refused', status: 429 } as const;
  expect(refusedUntil(situationOf({ ...record, later }, noon, full), caller)).toEqual({
    until: noon + 5 * minute,
    cause: 'rate_limited',
  });
});
