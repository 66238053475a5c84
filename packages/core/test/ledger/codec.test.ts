import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chargeOf, reasonOf } from '../../src/ledger/attempt.ts';
import { checksum } from '../../src/ledger/checksum.ts';
import { decodeRecord, encodeRecord } from '../../src/ledger/codec.ts';
import { compact } from '../../src/ledger/compact.ts';
import type { LedgerRecord } from '../../src/ledger/journal.ts';
import { merge } from '../../src/ledger/merge.ts';
import { reconcile } from '../../src/ledger/repair.ts';
import { settle } from '../../src/ledger/settle.ts';
import { hour } from '../support/instants.ts';
import { historyOf, noon, type Snapshot, wide } from './support/history.ts';
import { anyRecord, canonical } from './support/records.ts';

function decoded(text: string): LedgerRecord {
  const record = decodeRecord(text);
  if (typeof record === 'string') throw new Error(record);
  return record;
}

function textOf(wire: unknown): string {
  const json = JSON.stringify(wire);
  return `service-auth/3 ${checksum(json)} ${json}`;
}

type Wire = Record<string, unknown[][]> & { orders: Record<string, unknown>[] };
const wireOf = (record: LedgerRecord) =>
  JSON.parse(encodeRecord(record).slice('service-auth/3 12345678 '.length)) as Wire;
const [latest] = historyOf(3, { steps: 400 }).slice(-1) as [Snapshot];

describe('a record that was written and read', () => {
  test('is the same, in every state that a fleet brings about', () => {
    for (const { record } of historyOf(7, { steps: 300, faults: true })) {
      const text = encodeRecord(record);
      expect(canonical(decoded(text))).toBe(canonical(record));
      expect(encodeRecord(decoded(text)).length).toBe(text.length);
    }
  });

  test('is the same, whatever it contains', () => {
    const law = fc.property(anyRecord, (record) => {
      expect(canonical(decoded(encodeRecord(record)))).toBe(canonical(record));
    });
    fc.assert(law, { numRuns: 2_000 });
  });

  test('takes less than 8 kB with 150 tokens that were issued within a day', () => {
    const token = latest.record.tokens[0];
    const template = latest.record.attempts.find(({ outcome }) => outcome?.kind === 'issued');
    if (!template || !token) throw new Error('there is no token');
    const attempts = Array.from({ length: 150 }, (_, index) => {
      const at = noon + index * 500_000;
      const names = {
        audience: 'https://api.example.com/',
        instance: 'orders-5d8f',
        keyId: '123456789012',
        secretId: '123456789012',
        epoch: '123456789012',
      };
      const outcome = { kind: 'issued', at: at + 523, charge: 1 };
      return { ...template, ...names, id: `${100_000_000_000 + index}`, at, generation: at + 1, outcome };
    });
    const record = compact(
      { ...latest.record, attempts, buckets: [], orders: [], tokens: [] },
      noon + 76_000_000,
      wide,
    );
    expect(encodeRecord(record).length).toBeLessThan(8_000);
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
  const text = encodeRecord(latest.record);

  test('no flipped bit and no lost end goes unnoticed', () => {
    for (let at = 0; at < text.length; at += 11) {
      const flipped =
        text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ (1 << (at % 7))) + text.slice(at + 1);
      expect(typeof decodeRecord(flipped)).toBe('string');
      expect(decodeRecord(text.slice(0, at))).toBe('damaged');
    }
  });

  test('a later form is told apart from damage', () => {
    expect(decodeRecord(text.replace('auth/3', 'auth/4'))).toBe('unknown version');
    expect(decodeRecord(text.replace('auth/3', 'auth/x'))).toBe('damaged');
  });

  const damages: Record<string, (wire: Wire) => unknown> = {
    'an attempt twice': (wire) => wire['attempts']?.push(wire['attempts'][0] as unknown[]),
    'a name that is not in the list': (wire) => (wire['attempts'] as unknown[][])[0]?.splice(3, 1, 9_999),
    'an instant that is no integer': (wire) => (wire['attempts'] as unknown[][])[0]?.splice(1, 1, 1.5),
    'a negative count': (wire) => wire['buckets']?.push([0, 1, 0, 1, -1]),
    'no list of attempts': (wire) => delete wire['attempts'],
    'a term that allows nothing': (wire) => wire['terms']?.push([5, 1, 5, 0, 0]),
    'an unknown part that is nested too deep': (wire) => Object.assign(wire, { later: [[[[[[[[[[[]]]]]]]]]]] }),
  };
  test.each(Object.entries(damages))('damaged, though the checksum is right: %s', (_, damage) => {
    const wire = wireOf(latest.record);
    expect(typeof decodeRecord(textOf(wire))).toBe('object');
    damage(wire);
    expect(decodeRecord(textOf(wire))).toBe('damaged');
  });
});

describe('what a later release writes', () => {
  /** The record as a release writes it that has further members, row ends, kinds, reasons and orders. */
  function ofLaterRelease(record: LedgerRecord): LedgerRecord {
    const wire = wireOf(record);
    for (const part of ['attempts', 'tokens', 'terms', 'buckets']) {
      for (const cells of wire[part] ?? []) {
        while (part === 'attempts' && cells.length < 16) cells.push(0);
        cells.push('a later cell', { of: ['a later release'] });
      }
    }
    for (const cells of wire['attempts'] ?? []) {
      const outcome = cells[9] as unknown[] | undefined;
      if (Array.isArray(outcome)) {
        while (outcome.length < 3) outcome.push(0);
        outcome.splice(2, 1, { ...(outcome[2] as object), laterFact: 1 }, 'a later cell');
      }
    }
    const foreign = wire['attempts']?.at(-1);
    foreign?.splice(0, 1, 'later');
    foreign?.splice(8, 2, 'later reason', ['later kind', 5, { charge: 1, laterFact: 2 }, 7]);
    for (const order of wire.orders) Object.assign(order, { laterFact: 3 });
    wire.orders.push({ id: 'later order', at: latest.now, kind: 'later kind', by: 'somebody', laterFact: 4 });
    return decoded(textOf({ ...wire, laterMember: { of: ['a later release'] } }));
  }

  const written = ofLaterRelease(latest.record);
  /** What this release does not know, in the stored text. */
  const laterParts = (record: LedgerRecord) =>
    encodeRecord(record)
      .match(/later ?[A-Za-z]*/g)
      ?.sort();
  const wanted = laterParts(written);

  test('counts, paces and refuses nobody', () => {
    const attempt = written.attempts.find(({ id }) => id === 'later') as LedgerRecord['attempts'][number];
    const { outcome, reason } = attempt;
    expect([outcome?.kind, outcome?.charge, reason]).toEqual(['later kind', 1, 'later reason']);
    expect(chargeOf(attempt)).toBe(1);
    // What people see of it: somebody needed a token.
    expect(reasonOf(attempt)).toBe('cold');
    expect(written.orders.find(({ id }) => id === 'later order')).toMatchObject({
      kind: 'later kind',
      more: { laterFact: 4 },
    });
  });

  test.each<[string, (record: LedgerRecord) => LedgerRecord]>([
    ['a read and a write', (record) => decoded(encodeRecord(record))],
    ['a compaction', (record) => compact(record, latest.now, wide)],
    ['a merge with a copy of this release', (record) => merge(record, latest.record)],
    ['a merge the other way round', (record) => merge(latest.record, record)],
    [
      'a lost store',
      (record) => {
        const { epoch, sequence } = record;
        const seen = {
          epoch,
          sequence,
          record,
          now: latest.now,
          ledgerNow: latest.now,
          elapsedMs: 1_000,
          maxElapsedMs: 1_000,
        };
        return reconcile(undefined, seen, latest.now + 1_000, 'new epoch', wide).record;
      },
    ],
  ])('survives %s', (_, step) => {
    expect(wanted?.length).toBeGreaterThan(300);
    expect(laterParts(step(written))).toEqual(wanted);
  });

  test('survives an outcome of this release', () => {
    const attempt = {
      ...(written.attempts[0] as LedgerRecord['attempts'][number]),
      outcome: undefined,
      outcomeMore: undefined,
    };
    const open = { ...written, attempts: [attempt, ...written.attempts.slice(1)] };
    const settled = settle(open, latest.now + hour, attempt, { kind: 'ambiguous' });
    expect(settled.attempts[0]).toMatchObject({ id: attempt.id, more: attempt.more, outcome: { kind: 'unknown' } });
    expect(laterParts(settled)).toEqual(laterParts(open));
  });
});
