import assert from 'node:assert/strict';
import { createServiceAuth, isServiceAuthError, type ServiceAuth } from '@service-auth/core';
import { decodeRecord } from '../../../../packages/core/src/ledger/codec.ts';
import type { LedgerRecord } from '../../../../packages/core/src/ledger/journal.ts';
import type { CreateServiceAuth } from '../run.ts';
import { type Bed, createBed } from '../scenarios/bed.ts';

const minute = 60_000;
const hour = 60 * minute;
const failing = { status: 503, headers: {}, body: '' };

/** Two processes over one store, one of each release. */
interface Pair {
  readonly bed: Bed;
  readonly now: ServiceAuth;
  readonly next: ServiceAuth;
  record(): LedgerRecord;
}

function pair(nextRelease: CreateServiceAuth): Pair {
  const bed = createBed(createServiceAuth, { issuanceLimit: { tokens: 2_000, reserve: 0 } });
  return {
    bed,
    now: bed.start('now'),
    next: bed.start('next', nextRelease),
    record() {
      const record = decodeRecord(bed.store.kept('left')?.record ?? '');
      if (typeof record === 'string') throw new Error(record);
      return record;
    },
  };
}

/** Nobody is refused. */
async function served({ bed }: Pair, by: ServiceAuth, tokens: number): Promise<void> {
  assert.equal(await bed.spend(by, tokens), tokens);
}

async function used({ now, next }: Pair): Promise<number> {
  const [here, there] = await Promise.all([now.getUsage(), next.getUsage()]);
  assert.equal(here.used, there.used);
  return here.used;
}

/** Both get tokens in turn, fail, and reset: all that a record can have is in it. Two requests have an unknown outcome. */
async function live(both: Pair, rounds: number): Promise<void> {
  const { bed, now, next } = both;
  for (let round = 0; round < rounds; round++) for (const process of [now, next]) await served(both, process, 1);
  for (const process of [next, now]) {
    bed.answer = failing;
    await assert.rejects(
      process.getToken(),
      (error) => isServiceAuthError(error) && error.code === 'ERR_TOKEN_ENDPOINT',
    );
    bed.answer = undefined;
    await bed.pass(minute);
  }
  await served(both, now, 1);
  await next.reset({ reason: 'leaked' });
  await served(both, now, 1);
}

/** The record has what the next release added, whoever wrote it since. */
function assertAdditions(record: LedgerRecord): void {
  const json = (part: unknown) => JSON.stringify(part);
  assert.equal(json(record.more), json({ region: { name: 'north' } }));
  assert(record.terms.some(({ more }) => json(more) === json([['weekdays']])));
  const ofNext = record.attempts.filter(({ instance }) => instance === 'next');
  assert(ofNext.length > 2 && ofNext.every(({ more }) => json(more) === json([{ zone: 'b' }])));
  const lost = record.attempts.filter(({ outcome }) => outcome?.kind === 'lost').map(({ outcome }) => outcome);
  assert.deepEqual(
    lost.map((outcome) => [outcome?.charge, json(outcome?.more)]),
    [[1, json({ hops: 3 })]],
  );
  const notes = record.orders.filter(({ kind }) => kind === 'note');
  assert(notes.length > 2 && notes.every(({ more }) => json(more) === json({ text: ['kept'] })));
}

/** What two releases do with one record, by what is shown. Each rejects if it is not so. */
export const histories: Readonly<Record<string, (nextRelease: CreateServiceAuth) => Promise<void>>> = {
  async 'each keeps what the other writes'(nextRelease) {
    const both = pair(nextRelease);
    await live(both, 5);
    assertAdditions(both.record());
    assert.equal(await used(both), both.bed.issuedInADay() + 2);
    const { pending, resets } = await both.now.getUsage();
    assert.deepEqual([pending, resets.length], [2, 1]);
  },

  async 'both count the same when most tokens are added up'(nextRelease) {
    const both = pair(nextRelease);
    await live(both, 100);
    assert.equal(await used(both), both.bed.issuedInADay() + 2);
    const { buckets, attempts } = both.record();
    assert(attempts.length < 200 && buckets.length > 5);
    // The last one may be that of this release alone.
    assert(buckets.slice(0, -1).every(({ more }) => more?.[0] === 'sum'));
  },

  async 'this release puts a lost record back'(nextRelease) {
    const both = pair(nextRelease);
    await live(both, 5);
    await lost(both, both.now, both.next);
  },

  async 'the next release puts a lost record back'(nextRelease) {
    const both = pair(nextRelease);
    await live(both, 5);
    await lost(both, both.next, both.now);
  },

  async 'records that went different ways are united'(nextRelease) {
    const both = pair(nextRelease);
    await live(both, 5);
    const common = both.bed.store.kept('left')?.record ?? '';
    await served(both, both.next, 4);
    both.bed.store.replace(common);
    await served(both, both.bed.start('another'), 3);
    // The next release remembers what was lost.
    await served(both, both.next, 1);
    await served(both, both.now, 1);
    assertAdditions(both.record());
    assert.equal(await used(both), both.bed.issuedInADay() + 2);
  },

  async 'the record is moved when the clock leaps'(nextRelease) {
    const both = pair(nextRelease);
    await live(both, 5);
    both.bed.store.stepClock(6 * hour);
    await served(both, both.next, 1);
    await served(both, both.now, 1);
    assertAdditions(both.record());
    assert.equal(await used(both), both.bed.issuedInADay() + 2);
  },
};

async function lost(both: Pair, first: ServiceAuth, second: ServiceAuth): Promise<void> {
  both.bed.store.wipe();
  await served(both, first, 1);
  await served(both, second, 1);
  assertAdditions(both.record());
  assert.equal(await used(both), both.bed.issuedInADay() + 2);
}
