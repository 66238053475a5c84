import { expect, test } from 'vitest';
import { merge } from '../../src/ledger/merge.ts';
import { attemptAt, recordWith, usual } from './support/attempts.ts';
import { noon } from './support/history.ts';
import { used } from './support/records.ts';

test('of two outcomes of one attempt the later one stands, and the larger charge counts', () => {
  const [probed, refused] = (['unsent', 'refused'] as const).map((kind) =>
    recordWith([attemptAt(noon, { outcome: { kind, at: noon, charge: kind === 'unsent' ? 1 : 0 } })]),
  );
  if (!probed || !refused) throw new Error('there is no record');
  for (const record of [merge(probed, refused), merge(refused, probed)]) {
    expect(record.attempts.map(({ outcome }) => outcome?.kind)).toEqual(['refused']);
    expect(used(record, noon, usual)).toBe(1);
  }
});
