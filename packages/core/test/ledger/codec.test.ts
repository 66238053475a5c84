import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checksum, decodeRecord, encodeRecord, readBack } from '../../src/ledger/codec.ts';
import { compact } from '../../src/ledger/compact.ts';
import type { LedgerRecord } from '../../src/ledger/record.ts';
import { day, noon } from '../support/instants.ts';
import { anyRecord } from './support/any-record.ts';
import { after, anyHistory } from './support/fleet.ts';
import { issuedAt, recordWith, several, situationOf, statedBy, tokenWith } from './support/records.ts';

function decoded(text: string): LedgerRecord {
  const record = decodeRecord(text);
  if (typeof record === 'string') throw new Error(record);
  return record;
}

const header = 'service-auth/4 ';
const jsonOf = (record: LedgerRecord) => encodeRecord(record).slice(header.length + 9);
const textOf = (wire: unknown) => {
  const json = JSON.stringify(wire);
  return `${header}${checksum(json)} ${json}`;
};

/** A record with each of its parts. */
const full = recordWith([issuedAt(noon - 1), issuedAt(noon)], {
  limits: [statedBy('process', { tokens: 150, windowMs: day, reserve: 30 }, noon)],
  states: {
    orders: { failures: { count: 1, at: noon, kind: 'unknown', code: 'not_json' }, rejections: { count: 1, at: noon } },
  },
  refusals: {
    secret: {
      count: 1,
      at: noon,
      status: 401,
      code: 'invalid_client',
      name: 'orders',
      keyId: 'key',
      instance: 'process',
    },
  },
  later: { until: noon + 1, at: noon, kind: 'refused', status: 429, code: 'slow_down' },
  tokens: [tokenWith()],
  log: [{ id: 'note', at: noon, kind: 'reset', by: 'process' }],
  quota: { askedAt: noon, at: noon, figures: [{ windowMs: day, tokens: 150, remaining: 100, endsInMs: 1 }] },
});

describe('a record that was written and read', () => {
  test('is the same, in every state that a fleet brings about', () => {
    const law = fc.property(anyHistory, ([start, steps]) => {
      const { record } = steps.reduce((fleet, step) => after(fleet, step), start);
      expect(decoded(encodeRecord(record))).toEqual(record);
      expect(encodeRecord(decoded(encodeRecord(record))).length).toBe(encodeRecord(record).length);
    });
    fc.assert(law, { numRuns: 20 });
  });

  test('is the same, whatever it contains', () => {
    const law = fc.property(anyRecord, (record) => {
      expect(decoded(encodeRecord(record))).toEqual(record);
    });
    fc.assert(law, { numRuns: 1_000 });
  });

  test('is what its process reads back without its text', () => {
    const law = fc.property(anyRecord, (record) => {
      const text = encodeRecord(record);
      expect(readBack({ record, text })).toEqual(decodeRecord(text));
    });
    fc.assert(law, { numRuns: 1_000 });
    const invalid = { ...full, sequence: 0.5 };
    expect(readBack({ record: invalid, text: encodeRecord(invalid) })).toBe('damaged');
    expect(readBack({ record: full, text: ' '.repeat(4_000_001) })).toBe('damaged');
  });

  test('has its own members, whatever a polluted prototype does when one is set', () => {
    const text = encodeRecord(full);
    Object.defineProperty(Object.prototype, 'sequence', { get: () => 9, set() {}, configurable: true });
    const read = decodeRecord(text) as LedgerRecord;
    const hasOwn = Object.hasOwn(read, 'sequence');
    Reflect.deleteProperty(Object.prototype, 'sequence');
    expect([hasOwn, read.sequence]).toEqual([true, full.sequence]);
  });

  test('has no member that this release does not know', () => {
    // The names of tokens and of secrets are no members.
    const later = JSON.parse(jsonOf(full), (name, part) => {
      const isNamed = part === Object(part) && !Array.isArray(part) && name !== 'states' && name !== 'refusals';
      return isNamed ? { ...part, ofLaterRelease: ['added'] } : part;
    });
    expect(decoded(textOf(later))).toEqual(full);
  });

  test('takes less than 30 kB with 150 tokens that were issued within a day', () => {
    const names = { name: 'https://api.example.com/', instance: 'orders-5d8f', keyId: '123456789012' };
    const spent = several(150, (index) =>
      issuedAt(noon - index * 500_000, { ...names, id: `${100_000_000_000 + index}` }),
    );
    expect(encodeRecord(compact(situationOf(recordWith(spent)))).length).toBeLessThan(30_000);
  });

  test('is JSON with named members, so people and other programs can read it', () => {
    const [form, sum, ...json] = encodeRecord(full).split(' ');
    expect([form, sum]).toEqual(['service-auth/4', checksum(json.join(' '))]);
    expect(JSON.parse(json.join(' '))).toMatchObject({ id: 'record', spent: [{ name: 'orders' }, { issuedAt: noon }] });
  });

  test('shows of a refusal no error code but those of the standards, because another text may be the secret', () => {
    const { refusals, later, states } = decoded(encodeRecord(full));
    expect([refusals['secret']?.code, later?.code, states['orders']?.failures?.code]).toEqual([
      'invalid_client',
      'slow_down',
      'not_json',
    ]);
    const planted = decoded(textOf(JSON.parse(jsonOf(full).replaceAll(/invalid_client|slow_down/g, 'hunter2'))));
    expect([planted.refusals['secret']?.code, planted.later?.code]).toEqual(['other', 'other']);
  });
});

test('the checksum is the CRC-32 of the UTF-16 code units, so other programs can compute it', () => {
  const law = fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
    expect(Number.parseInt(checksum(text), 16)).toBe(crc32(Buffer.from(text, 'utf16le')));
    expect(checksum(text)).toHaveLength(8);
  });
  fc.assert(law, { numRuns: 500 });
});

describe('a text that cannot be trusted', () => {
  const text = encodeRecord(full);

  test('no flipped bit and no lost end goes unnoticed', () => {
    for (let at = 0; at < text.length; at += 11) {
      const flipped =
        text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ (1 << (at % 7))) + text.slice(at + 1);
      expect(typeof decodeRecord(flipped)).toBe('string');
      expect(decodeRecord(text.slice(0, at))).toBe('damaged');
    }
  });

  test('an earlier or later form is told apart from damage', () => {
    expect([3, 5, 12].map((form) => decodeRecord(text.replace('auth/4', `auth/${form}`)))).toEqual([
      'unknown version',
      'unknown version',
      'unknown version',
    ]);
    expect(decodeRecord(text.replace('auth/4', 'auth/x'))).toBe('damaged');
  });

  test('is one of more than 4 million characters', () => {
    const [token] = full.tokens;
    const large = (count: number) =>
      encodeRecord({ ...full, tokens: several(count, () => ({ ...tokenWith(token), sealed: 's'.repeat(40_000) })) });
    expect([99, 100].map((count) => typeof decodeRecord(large(count)))).toEqual(['object', 'string']);
  });

  type Wire = Record<string, Record<string, unknown>[]> & { states: Record<string, Record<string, unknown>> };
  const first = (wire: Wire, list: string) => wire[list]?.[0] as Record<string, unknown>;
  const damages: Record<string, (wire: Wire) => unknown> = {
    'a request twice': (wire) => wire['spent']?.push(first(wire, 'spent')),
    'an instant that is no integer': (wire) => Object.assign(first(wire, 'spent'), { at: 1.5 }),
    'an instant that no Date can show': (wire) => Object.assign(first(wire, 'spent'), { at: 8.1e15 }),
    'a step of the clock that is no integer': (wire) => Object.assign(wire, { movedMs: 1.5 }),
    'a step of the clock that no Date can show': (wire) => Object.assign(wire, { movedMs: -8.1e15 }),
    'a negative count': (wire) => Object.assign(first(wire, 'spent'), { tokens: -1 }),
    'a reason that nobody has': (wire) => Object.assign(first(wire, 'spent'), { reason: 'whim' }),
    'a reason in a list': (wire) => Object.assign(first(wire, 'spent'), { reason: ['cold'] }),
    'an unknown way to count': (wire) => Object.assign(first(wire, 'limits'), { counts: 'answers' }),
    'a name that is too long': (wire) => Object.assign(first(wire, 'tokens'), { name: 'n'.repeat(40_001) }),
    'a name that is no text': (wire) => Object.assign(first(wire, 'tokens'), { name: 5 }),
    'no list of requests': (wire) => delete wire['spent'],
    'an object in place of a list': (wire) => Object.assign(wire, { spent: {} }),
    'a list in place of an object': (wire) => Object.assign(wire, { states: [] }),
    'a text in place of an object': (wire) => Object.assign(wire, { states: 'orders' }),
    'null in place of an object': (wire) => Object.assign(wire, { lost: null }),
    'too many terms': (wire) => Object.assign(wire, { limits: several(65, () => first(wire, 'limits')) }),
    'too many names': (wire) =>
      Object.assign(wire, { states: Object.fromEntries(several(10_001, (index) => [index, {}])) }),
    'a term that allows nothing': (wire) => Object.assign(first(wire, 'limits'), { reserve: 150 }),
    'a window without a length': (wire) => Object.assign(first(wire, 'limits'), { windowMs: 0 }),
    'a figure of the provider that lacks a number': (wire) =>
      Object.assign(wire, { quota: { askedAt: 1, at: 1, figures: [{ windowMs: 1, tokens: 1, remaining: 1 }] } }),
    'another form than its header says': (wire) => Object.assign(wire, { form: 5 }),
    'no object at all': () => [],
  };
  test.each(Object.entries(damages))('damaged, though the checksum is right: %s', (_, damage) => {
    const wire = JSON.parse(jsonOf(full));
    expect(typeof decodeRecord(textOf(wire))).toBe('object');
    const result = damage(wire);
    expect(decodeRecord(textOf(Array.isArray(result) && result.length === 0 ? result : wire))).toBe('damaged');
  });
});
