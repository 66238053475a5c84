import { createServiceAuth } from '@service-auth/core';
import type { CreateServiceAuth } from '../parts.ts';
import { type Change, loadChanged } from './load-changed.ts';

/** The releases of a fleet: today's, and what may follow it. */
export interface Releases {
  readonly today: CreateServiceAuth;
  /** A later one, whose rows have one more hint for people. */
  readonly withHint: CreateServiceAuth;
  /** The first of two releases that change what counts: it reads the numbers 4 and 5 of the form, and writes the one that it found. */
  readonly first: CreateServiceAuth;
  /** The second: it reads both, and writes 5. */
  readonly second: CreateServiceAuth;
}

const ledger = (file: string, find: string, replace: string): Change => ({ file: `ledger/${file}`, find, replace });

const hint: readonly Change[] = [
  ledger('decide.ts', 'overLimit, until };', "overLimit, until, region: 'north' };"),
  ledger('codec.ts', '  died: optional(exactly(true)),', '$&\n  region: optional(text),'),
];

/** What the number 5 brings: a row counts as often as its `weight` says, and each new row has the weight 2. */
const weight: readonly Change[] = [
  ledger('codec.ts', '[newForm]', '[4, 5]'),
  ledger('codec.ts', '  died: optional(exactly(true)),', '$&\n  weight: optional(count),'),
  ledger('decide.ts', 'overLimit, until };', 'overLimit, until, ...(record.form > 4 && { weight: 2 }) };'),
  ledger('count.ts', 'costOf({ tokens = 1, refusedAt }', 'costOf({ tokens = 1, weight = 1, refusedAt }'),
  ledger('count.ts', "counts !== 'requests' ? 0 : tokens", "counts !== 'requests' ? 0 : tokens * weight"),
  ledger('compact.ts', 'refusedAt, reason }: Spent)', 'refusedAt, reason, weight = 1 }: Spent)'),
  ledger('compact.ts', 'tokens: 1 + (', 'tokens: weight + ('),
];
const raised: readonly Change[] = [ledger('record.ts', 'newForm: number = 4', 'newForm: number = 5')];

/** Builds them from the present sources. `today`: another build of today's core. */
export async function loadReleases(today: CreateServiceAuth = createServiceAuth): Promise<Releases> {
  const load = async (name: string, changes: readonly Change[]) =>
    (await loadChanged<{ createServiceAuth: CreateServiceAuth }>(name, changes, 'index.ts')).createServiceAuth;
  return {
    today,
    withHint: await load('one more hint', hint),
    first: await load('the first of two', weight),
    second: await load('the second of two', [...weight, ...raised]),
  };
}
