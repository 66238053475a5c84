// Where the provider counts requests: what an attempt costs, and what the record must know for it.
import { describe, expect, test } from 'vitest';
import { costOf } from '../../src/ledger/attempt.ts';
import { fitted } from '../../src/ledger/bound.ts';
import { decodeRecord, encodeRecord } from '../../src/ledger/codec.ts';
import { compact } from '../../src/ledger/compact.ts';
import { admission, leavesAt } from '../../src/ledger/count.ts';
import { type LedgerRecord, newRecord } from '../../src/ledger/journal.ts';
import { type Limits, limitsFor } from '../../src/ledger/limits.ts';
import { merge } from '../../src/ledger/merge.ts';
import { reconcile } from '../../src/ledger/repair.ts';
import { declare, unitedTerms } from '../../src/ledger/terms.ts';
import { day, hour, minute, noon } from '../support/instants.ts';
import { attemptAt, recordWith, seenAt } from './support/attempts.ts';
import { declaredBy, termOf } from './support/records.ts';

const tokens = limitsFor([{ tokens: 150, windowMs: day }], undefined, 'durable');
const requests = limitsFor([{ tokens: 150, windowMs: day, counts: 'requests' }], undefined, 'durable');
const refused = (at: number) => attemptAt(at, { id: `refused ${at}`, outcome: { kind: 'refused', at, charge: 0 } });
const usedUnder = (record: LedgerRecord, limits: Limits) => admission(record, noon, limits, 'cold')[0]?.used;

describe('an attempt', () => {
  test.each([
    ['issued', 1, 1, 1],
    ['unknown', 1, 1, 1],
    ['refused', 0, 0, 1],
    ['unreached', 0, 0, 0],
    ['unsent', 0, 0, 0],
    ['of a later release', 0, 0, 1],
  ])('%s with a charge of %i costs %i tokens and %i requests', (kind, charge, asToken, asRequest) => {
    const attempt = attemptAt(noon, { outcome: { kind, at: noon, charge } });
    expect([costOf(attempt, {}), costOf(attempt, { counts: 'requests' })]).toEqual([asToken, asRequest]);
  });

  test('under way may cost a request', () => {
    const underWay = attemptAt(noon, { outcome: undefined });
    expect(costOf(underWay, { counts: 'requests' })).toBe(1);
  });

  test('that was refused counts for as long as one that was issued', () => {
    const at = noon - hour;
    expect(leavesAt(refused(at), termOf(requests))).toBe(leavesAt(attemptAt(at), termOf(requests)));
  });
});

describe('a record', () => {
  const terms = [declaredBy('any', { ...termOf(requests) }, noon)];
  const many = Array.from({ length: 400 }, (_, index) => refused(noon - 20 * hour + index * minute));

  test('counts refused requests in the terms that count them, in detail and in buckets', () => {
    const record = recordWith([...many, attemptAt(noon)], { terms });
    const compacted = compact(record, noon, requests);
    expect(compacted.attempts.length).toBeLessThan(200);
    for (const one of [record, compacted, merge(compacted, compacted), merge(record, compacted)]) {
      expect(usedUnder(one, requests)).toBe(401);
      expect(usedUnder({ ...one, terms: [] }, tokens)).toBe(1);
    }
    expect(compact(compacted, noon, requests)).toEqual(compacted);
  });

  test('drops them if only tokens count', () => {
    const { attempts, buckets } = compact(recordWith(many, { terms: [] }), noon, tokens);
    expect([attempts.length, buckets.length]).toEqual([0, 0]);
  });

  test('that is too large for its store keeps them if they count', () => {
    const large = recordWith(many.slice(0, 100), { terms });
    const bytes = fitted(large, noon, requests).text.length;
    expect(fitted(large, noon, { ...requests, maxBytes: bytes - 1 }).record.attempts).toHaveLength(100);
    const ofTokens = { ...large, terms: [] };
    expect(fitted(ofTokens, noon, { ...tokens, maxBytes: bytes / 2 }).record.attempts).toHaveLength(0);
  });

  test('is written and read again, and rows of an older release count tokens', () => {
    const record = compact(
      recordWith(many, { terms: [declaredBy('any', requests.terms[0] as never, noon)] }),
      noon,
      requests,
    );
    expect(decodeRecord(encodeRecord(record))).toEqual(record);
    const [term] = tokens.terms;
    const older = encodeRecord(recordWith([], { terms: [declaredBy('any', term as never, noon)] }));
    expect((decodeRecord(older) as LedgerRecord).terms).toEqual([{ ...term, seenAt: noon, by: 'any' }]);
  });

  test('in which only tokens counted does not know what a term that counts requests must know', () => {
    const used = recordWith([attemptAt(noon - hour)], { terms: [declaredBy('any', tokens.terms[0] as never, noon)] });
    const declared = declare(used, noon, requests, 'new');
    expect(declared.completeSince).toBe(noon);
    expect(declare(declared, noon + hour, requests, 'new').completeSince).toBe(noon);
    expect(declare(used, noon, tokens, 'new').completeSince).toBe(used.completeSince);
    // Nobody asked for a token yet: somebody may have said what was spent.
    const unused = newRecord('epoch', noon - day);
    expect(declare(unused, noon, requests, 'new').completeSince).toBe(noon - day);
  });

  test('that was begun by others while it was lost does not know them either', () => {
    const before = recordWith([attemptAt(noon - 2 * hour)], {
      terms: [declaredBy('any', requests.terms[0] as never, noon - hour)],
    });
    const begun = declare(newRecord('other', noon - minute), noon - minute, tokens, 'other');
    const { record } = reconcile(
      { ...begun, sequence: 1 },
      seenAt(before, noon - 2 * minute, 2 * minute),
      noon,
      'epoch 3',
      requests,
    );
    expect(record.completeSince).toBe(noon);
  });
});

describe('members that disagree', () => {
  const [ofTokens, ofRequests] = [tokens.terms[0], requests.terms[0]].map((term) =>
    declaredBy('any', term as never, noon),
  );

  test('have two terms, and the one that counts more decides', () => {
    const record = recordWith([refused(noon - hour)], {
      terms: unitedTerms([ofTokens as never], [ofRequests as never]),
    });
    expect(admission(record, noon, tokens, 'cold').map(({ used, own }) => [used, own])).toEqual([
      [0, true],
      [1, false],
    ]);
  });
});
