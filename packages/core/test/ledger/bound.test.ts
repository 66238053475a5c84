import { expect, test } from 'vitest';
import { fitted, roomExpectedAt } from '../../src/ledger/bound.ts';
import { encodeRecord } from '../../src/ledger/codec.ts';
import { refusalOf } from '../../src/ledger/forecast.ts';
import { day, hour, minute } from '../support/instants.ts';
import { attemptAt, recordWith, usual } from './support/attempts.ts';
import { noon } from './support/history.ts';

const sealed = 's'.repeat(500);
const tokens = Array.from({ length: 20 }, (_, index) => ({
  ...{ audience: `audience-${index}`, keyId: 'key', id: `${index}`, generation: noon + index },
  ...{ expiresAt: noon + day, aheadMs: 0, lifetimeMs: day, sealed },
}));

test('a caller whom the endpoint told to wait is refused for longer if the record is full then', () => {
  const told = attemptAt(noon - minute, {
    outcome: { kind: 'refused', status: 429, at: noon - minute, charge: 0, toldUntil: noon + 5 * minute },
  });
  const brief = tokens.map((token, index) => (index < 10 ? { ...token, expiresAt: noon + hour / 2 } : token));
  const record = recordWith([told], { tokens: brief });
  const limits = { ...usual, maxBytes: encodeRecord(record).length };
  const caller = { audience: 'new', keyId: 'key', secretId: 'secret' };
  expect(refusalOf(record, noon, caller, usual)).toEqual({ until: noon + 5 * minute, cause: 'rate_limited' });
  expect(refusalOf(record, noon, caller, limits)).toEqual({ until: noon + hour / 2, cause: 'full' });
});

test('a full record may have room when a request that is under way ends, and in an hour at the latest', () => {
  const open = attemptAt(noon, { until: noon + 3 * minute, outcome: undefined });
  expect([[open], []].map((attempts) => roomExpectedAt(recordWith(attempts, { tokens }), noon))).toEqual([
    noon + 3 * minute,
    noon + hour,
  ]);
});

test('a record that is too large forgets refusals, but not the one that says how long all callers have to wait', () => {
  const refused = (fields: object) =>
    attemptAt(noon - minute, { outcome: { kind: 'refused', at: noon - minute, charge: 0, ...fields } });
  const told = refused({ status: 429, toldUntil: noon + 5 * minute });
  const record = recordWith([refused({ status: 403 }), told, refused({ status: 429, toldUntil: noon })], { tokens });
  const { record: kept } = fitted(record, noon, { ...usual, maxBytes: 9_000 });
  expect(kept.attempts).toEqual([told]);
});
