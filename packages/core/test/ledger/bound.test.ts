import { expect, test } from 'vitest';
import { fitted } from '../../src/ledger/bound.ts';
import { encodeRecord } from '../../src/ledger/codec.ts';
import { attemptAt, recordWith, usual } from './support/attempts.ts';
import { noon } from './support/history.ts';
import { day } from './worlds/world.ts';

test('a record that is too large loses what recognises a repeated token before it loses a token', () => {
  const names = Array.from({ length: 20 }, (_, index) => `audience-${index}`);
  const tokens = names.map((audience, index) => ({
    ...{ audience, keyId: 'key', id: `${index}`, generation: noon + index },
    ...{ expiresAt: noon + day, aheadMs: 0, lifetimeMs: day, sealed: 's'.repeat(500) },
  }));
  const issued = (fields: object) =>
    tokens.map(({ audience, id, generation: at }) =>
      attemptAt(at, { id, audience, outcome: { kind: 'issued', at, charge: 1, ...fields } }),
    );
  const record = recordWith(issued({ hash: 'h'.repeat(40), expiresAt: noon + day }), { tokens });
  const maxBytes = encodeRecord({ ...record, attempts: issued({}) }).length;
  expect(encodeRecord(record).length).toBeGreaterThan(maxBytes + 500);
  const { record: kept } = fitted(record, noon, { ...usual, maxBytes });
  expect(kept.tokens).toEqual(tokens);
  expect(kept.attempts.some(({ outcome }) => outcome?.hash !== undefined)).toBe(false);
});
