import { anyText } from '@service-auth/test-tools/any-text';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeRecord, encodeRecord } from '../../src/ledger/codec.ts';
import { compact } from '../../src/ledger/condense.ts';
import type { LedgerEntry, LedgerRecord } from '../../src/ledger/record.ts';
import { newRecord } from '../../src/ledger/record.ts';
import { day, hour, minute, noon, second } from '../support/instants.ts';
import {
  audienceWith,
  declaredBy,
  entriesAt,
  entryAt,
  failuresWith,
  oneWindow,
  recordWith,
  seed,
  spentIn,
  tokenAt,
  usualLimits,
} from '../support/records.ts';

const reasons = ['cold', 'refresh', 'expired', 'rejected', 'reset'] as const;

const instant = fc.integer({ min: 0, max: 8e15 });
const small = fc.integer({ min: 0, max: 1_000_000 });
const name = anyText(40);
const spacing = { count: small, retryAt: instant };
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });

const anEntry = fc.record({
  id: name,
  at: instant,
  pending: fc.boolean(),
  reason: fc.constantFrom(...reasons),
  instance: fc.constantFrom('a', 'b', ''),
  audience: name,
});
const aToken = fc.record({ id: name, generation: small, expiresAt: instant, lifetimeMs: small, sealed: name });
const aFingerprint = fc.record({ hash: name, generation: small, until: instant });
const anAudience = fc.record({
  audience: name,
  keyId: name,
  revoked: small,
  token: maybe(aToken),
  lease: maybe(fc.record({ id: name, generation: small, until: instant })),
  renewAfter: instant,
  unreadableUntil: instant,
  credentialsBackoff: maybe(
    fc.record({
      secretId: name,
      ...spacing,
      status: small,
      oauthError: maybe(fc.constantFrom('invalid_client', 'other')),
    }),
  ),
  fingerprints: maybe(fc.array(aFingerprint, { maxLength: 20 })),
});
const aTerm = fc
  .record({
    tokens: fc.integer({ min: 1, max: 1_000_000 }),
    windowMs: fc.integer({ min: 1_000, max: 31 * day }),
    seenAt: instant,
    by: name,
  })
  .map((term) => ({ ...term, reserve: Math.floor(term.tokens / 3) }));
const aRecord: fc.Arbitrary<LedgerRecord> = fc.record({
  epoch: name,
  sequence: small,
  terms: fc.array(aTerm, { maxLength: 16 }),
  completeSince: instant,
  highWaterAt: instant,
  entries: fc.uniqueArray(anEntry, { selector: ({ id }) => id, maxLength: 20 }),
  condensed: fc.array(fc.record({ at: instant, pending: fc.boolean(), count: small })),
  audiences: fc.array(anAudience, { maxLength: 4 }),
  failures: maybe(
    fc.record({
      ...spacing,
      failedAt: instant,
      audience: name,
      shared: fc.boolean(),
      toldUntil: maybe(instant),
      probeAt: maybe(instant),
      ambiguous: fc.boolean(),
      status: maybe(small),
      reason: maybe(name),
    }),
  ),
  rateLimit: maybe(fc.record(spacing)),
  deaths: fc.record({ ...spacing, countedUntil: instant }),
  resets: fc.array(
    fc.record({ id: name, at: instant, audience: name, tokenId: maybe(name), instance: name, reason: maybe(name) }),
    { maxLength: 20 },
  ),
  retry: maybe(fc.record({ ...spacing, openUntil: instant, id: maybe(name) })),
  spentElsewhere: maybe(fc.record({ at: instant, count: small, instance: name, reason: name })),
});

/** A record in which everything that can be there is there. */
const full = recordWith({
  terms: [
    declaredBy('process', { tokens: 150, windowMs: day, reserve: 30 }, noon),
    declaredBy('third', { tokens: 10, windowMs: 3_600_000, reserve: 0 }, noon),
  ],
  entries: [
    ...reasons.map((reason) => entryAt(noon, { reason })),
    entryAt(noon, { pending: true, instance: 'other', audience: 'invoices' }),
  ],
  condensed: [{ at: noon - day, pending: false, count: 7 }],
  audiences: [
    audienceWith({
      token: tokenAt(3, noon + day),
      lease: { id: 'lease', generation: 4, until: noon + minute },
      credentialsBackoff: {
        secretId: 'secret',
        count: 1,
        retryAt: noon + minute,
        status: 401,
        oauthError: 'invalid_client',
      },
    }),
    audienceWith({ audience: 'invoices' }),
  ],
  failures: failuresWith({ count: 2, retryAt: noon + second, status: 502, reason: 'not_json' }),
  rateLimit: { count: 1, retryAt: noon + minute },
  deaths: { count: 2, retryAt: noon + minute, countedUntil: noon },
  resets: [
    { id: 'reset-1', at: noon, audience: 'orders', tokenId: 'token-2', instance: 'process', reason: 'leaked' },
    { id: 'reset-2', at: noon, audience: 'invoices', tokenId: undefined, instance: 'process', reason: undefined },
  ],
  retry: { count: 1, retryAt: noon + minute, openUntil: noon + hour, id: 'retried' },
  spentElsewhere: { at: noon, count: 40, instance: 'ops', reason: 'counted' },
});

/** A text with a right checksum around any JSON: what an author of records could write. */
function authored(json: string): string {
  const crcOf = (text: string): string => {
    let crc = 0xffff_ffff;
    for (const byte of Buffer.from(text, 'utf16le')) {
      crc ^= byte;
      for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb8_8320 : crc >>> 1;
    }
    return (~crc >>> 0).toString(16).padStart(8, '0');
  };
  return `service-auth/2 ${crcOf(json)} ${json}`;
}

/** The full record with one thing changed on the wire. */
function changed(change: (wire: Record<string, unknown>) => void): string {
  const wire = JSON.parse(encodeRecord(full).slice('service-auth/2 12345678 '.length)) as Record<string, unknown>;
  change(wire);
  return authored(JSON.stringify(wire));
}

describe('encodeRecord and decodeRecord', () => {
  test('give back what they were given', () => {
    for (const record of [full, recordWith(), newRecord('epoch', 0)]) {
      expect(decodeRecord(encodeRecord(record))).toEqual(record);
    }
  });

  test.each(['correct_horse_battery_staple', '', 'constructor', 'Invalid_Client'])(
    'read the text %j in the place of an error code as "other"',
    (oauthError) => {
      const text = encodeRecord(full).slice('service-auth/2 12345678 '.length);
      const record = decodeRecord(authored(text.replace('invalid_client', oauthError)));
      expect(record).toMatchObject({ audiences: [{ credentialsBackoff: { status: 401, oauthError: 'other' } }, {}] });
    },
  );

  test(`give back whatever a record may contain (seed ${seed})`, () => {
    fc.assert(
      fc.property(aRecord, (record) => {
        expect(decodeRecord(encodeRecord(record))).toEqual(record);
      }),
    );
  });

  test('accept a text that was written elsewhere to the same format', () => {
    expect(changed(() => {})).toBe(encodeRecord(full));
  });

  test('name every instance and audience once, in the order in which they come', () => {
    const wire = JSON.parse(encodeRecord(full).slice('service-auth/2 12345678 '.length)) as { names: string[] };
    expect(wire.names).toEqual(['process', 'third', 'orders', 'other', 'invoices']);
  });

  test('write what every version of this format reads', () => {
    expect(encodeRecord({ ...newRecord('epoch', 7), sequence: 7 })).toBe(
      'service-auth/2 1937b45f {"epoch":"epoch","sequence":7,"terms":[],"completeSince":7,"highWaterAt":7,"entries":[],"condensed":[],"slots":[],"deaths":{"countedUntil":7},"names":[]}',
    );
  });

  test('give back nothing that a polluted prototype adds', () => {
    const polluted = ['failures', 'rateLimit', 'token', 'lease', 'refused', 'retry'];
    try {
      for (const field of polluted) Reflect.set(Object.prototype, field, { count: 1, retryAt: 8e15, id: 'x' });
      const record = decodeRecord(encodeRecord({ ...recordWith(), failures: undefined, rateLimit: undefined }));
      expect(record).not.toBe('damaged');
      expect(Object.values(record).some((value) => (value as { retryAt?: number } | undefined)?.retryAt === 8e15)).toBe(
        false,
      );
    } finally {
      for (const field of polluted) Reflect.deleteProperty(Object.prototype, field);
    }
  });
});

describe('a text that cannot be trusted', () => {
  test('no single flipped bit goes unnoticed', () => {
    const decodedAs = new Set<unknown>();
    for (const record of [full, recordWith(), recordWith({ entries: entriesAt(noon, 3), epoch: 'ü€😀' })]) {
      const bytes = Buffer.from(encodeRecord(record));
      for (let bit = 0; bit < bytes.length * 8; bit++) {
        bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        decodedAs.add(decodeRecord(bytes.toString()));
        bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      }
    }
    // No flip leads to a record, be it the one that was written.
    expect(decodedAs).toEqual(new Set(['damaged', 'unknown version']));
  });

  test('no truncation goes unnoticed', () => {
    const text = encodeRecord(full);
    for (let length = 0; length < text.length; length++) expect(decodeRecord(text.slice(0, length))).toBe('damaged');
    expect(decodeRecord(`${text} `)).toBe('damaged');
  });

  test('a later version is told apart from damage', () => {
    expect(decodeRecord('service-auth/3 12345678 {}')).toBe('unknown version');
    expect(decodeRecord('service-auth/999999 anything')).toBe('unknown version');
    expect(decodeRecord('service-auth/9999999 anything')).toBe('damaged');
    expect(decodeRecord('is not service-auth/2 at all')).toBe('damaged');
  });

  test.each(['', ' ', '{}', 'null', 'service-auth/', 'service-auth/2', 'service-auth/2 ', 'service-auth/2 00000000 '])(
    'damaged: %j',
    (text) => expect(decodeRecord(text)).toBe('damaged'),
  );

  test.each(['null', '1', '"text"', '[]', '{}', '{"__proto__":{}}', '{', '[[[[', 'NaN'])(
    'damaged, though the checksum is right: %s',
    (json) => expect(decodeRecord(authored(json))).toBe('damaged'),
  );

  const entries = (wire: Record<string, unknown>) => wire['entries'] as unknown[][];
  const first = (wire: Record<string, unknown>, list: string) => (wire[list] as Record<string, unknown>[])[0] ?? {};
  const damages: Record<string, (wire: Record<string, unknown>) => void> = {
    'a field is missing': (wire) => Reflect.deleteProperty(wire, 'terms'),
    'a term is short': (wire) => Object.assign(wire, { terms: [[1, 1_000, 0, 7]] }),
    'a term keeps all of its tokens': (wire) => Object.assign(wire, { terms: [[1, 1_000, 1, 7, 0]] }),
    'a term has no window': (wire) => Object.assign(wire, { terms: [[1, 0, 0, 7, 0]] }),
    'there are too many terms': (wire) => Object.assign(wire, { terms: new Array(17).fill([1, 1_000, 0, 7, 0]) }),
    'an audience is unknown': (wire) => Object.assign(first(wire, 'slots'), { audience: 99 }),
    'a number is negative': (wire) => Object.assign(wire, { sequence: -1 }),
    'a number is a fraction': (wire) => Object.assign(wire, { completeSince: 1.5 }),
    'a number is text': (wire) => Object.assign(wire, { highWaterAt: '1' }),
    'an instant is beyond what a Date can show': (wire) =>
      Object.assign(wire, { failures: { ...full.failures, retryAt: 8.1e15 } }),
    'a text is a list': (wire) => Object.assign(wire, { epoch: [] }),
    'a flag is a number': (wire) => Object.assign(entries(wire)[0] ?? [], { 2: 1 }),
    'a reason is unknown': (wire) => Object.assign(entries(wire)[0] ?? [], { 3: 9 }),
    'a name is unknown': (wire) => Object.assign(entries(wire)[0] ?? [], { 4: 99 }),
    'an entry is short': (wire) => entries(wire)[0]?.pop(),
    'an entry is long': (wire) => entries(wire)[0]?.push(0),
    'an entry is no list': (wire) => Object.assign(wire, { entries: [{}] }),
    'an id comes twice': (wire) => entries(wire).push(entries(wire)[0] ?? []),
    'an id is endless': (wire) => Object.assign(entries(wire)[0] ?? [], { 0: 'x'.repeat(40_001) }),
    'a bucket is short': (wire) => Object.assign(wire, { condensed: [[1, true]] }),
    'a reset is short': (wire) => Object.assign(wire, { resets: [['id', 1, 0, null, 0]] }),
    'there are too many resets': (wire) =>
      Object.assign(wire, { resets: new Array(21).fill(['id', 1, 0, null, 0, null]) }),
    'a slot is no object': (wire) => Object.assign(wire, { slots: ['slot'] }),
    'a slot has no key': (wire) => Reflect.deleteProperty(first(wire, 'slots'), 'keyId'),
    'a token is incomplete': (wire) => Object.assign(first(wire, 'slots'), { token: { id: 'x' } }),
    'an optional field is null': (wire) => Object.assign(wire, { rateLimit: null }),
    'there are too many names': (wire) => Object.assign(wire, { names: new Array(16_061).fill('x') }),
    'there are too many slots': (wire) => Object.assign(wire, { slots: new Array(10_001).fill(first(wire, 'slots')) }),
    'there are too many buckets': (wire) => Object.assign(wire, { condensed: new Array(4_001).fill([1, true, 1]) }),
    'there are more entries than are ever written': (wire) =>
      Object.assign(wire, { entries: Array.from({ length: 3_003 }, (_, index) => [`${index}`, 1, true, 0, 0, 0]) }),
  };
  test.each(Object.entries(damages))('damaged, though the checksum is right: %s', (_, damage) => {
    expect(decodeRecord(changed(damage))).toBe('damaged');
  });

  test('a million entries and ten megabytes are refused before they are read', () => {
    const million = changed((wire) => Object.assign(wire, { entries: new Array(1_000_000).fill(0) }));
    expect(decodeRecord(million)).toBe('damaged');
    expect(decodeRecord(`service-auth/2 00000000 ${'x'.repeat(10_000_000)}`)).toBe('damaged');
  });

  test('instants in the year 9999 are believed, so that they count as live', () => {
    const at = Date.UTC(9999, 11, 31);
    const record = recordWith({ entries: [entryAt(at)] });
    expect(decodeRecord(encodeRecord(record))).toEqual(record);
    expect(spentIn(compact(record, noon, usualLimits)).used).toBe(1);
  });
});

describe('the size of a record', () => {
  const limits = oneWindow(100_000, day, 0);

  test('is at most 48 KB at a limit of 100,000 with 100,000 issuances, and every one of them counts', () => {
    const issue = (index: number): LedgerEntry =>
      entryAt(noon + index * 864, {
        id: `id-${index}`.padEnd(12, 'x'),
        pending: index % 3 === 0,
        reason: 'expired',
        instance: `instance-${index % 150}`.padEnd(64, 'i'),
        audience: `https://api-${index % 150}.example.com/`.padEnd(60, 'a'),
      });
    let record = recordWith();
    for (let index = 0; index < 100_000; ) {
      const batch = Array.from({ length: 100 }, () => issue(index++));
      const [newest] = batch.slice(-1);
      record = compact({ ...record, entries: [...record.entries, ...batch] }, newest?.at ?? 0, limits);
    }
    const audiences = [audienceWith({ token: tokenAt(100_000, noon + 2 * day, { sealed: 's'.repeat(2_000) }) })];
    const text = encodeRecord({ ...record, audiences });
    expect(spentIn(record, noon + day, limits).used).toBe(100_000);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(48 * 1_024);
    expect(decodeRecord(text)).toEqual({ ...record, audiences });
  });

  test('leaves room for a reservation of two tokens on top of those in detail', () => {
    const record = recordWith({ entries: entriesAt(noon, 3_002, { pending: true }) });
    expect(decodeRecord(encodeRecord(record))).toEqual(record);
  });

  test('is at most four million characters', () => {
    const audienceOf = (length: number) => audienceWith({ token: tokenAt(1, noon, { sealed: 's'.repeat(length) }) });
    const most = (length: number) =>
      recordWith({ audiences: [...new Array(99).fill(audienceOf(40_000)), audienceOf(length)] });
    const spare = 4_000_000 - encodeRecord(most(0)).length;
    expect(decodeRecord(encodeRecord(most(spare)))).toEqual(most(spare));
    expect(decodeRecord(encodeRecord(most(spare + 1)))).toBe('damaged');
  });
});
