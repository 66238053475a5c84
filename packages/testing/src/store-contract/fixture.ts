import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Store, StoreChange, StoreSnapshot } from '@service-auth/core';
import type { ContractCase } from '../contract/contract-case.ts';
import { within } from '../contract/within.ts';
import { type SteppableClock, steppableClock } from './steppable-clock.ts';
import type { OpenStore } from './subject.ts';

/** All that a case works with. */
export interface Fixture {
  readonly store: Store;
  /** A key that nothing was ever kept under. */
  readonly key: string;
  readonly clock: SteppableClock;
  another(): Promise<Store>;
  /** Closes every handle, and calls `open()` of the caller a second time. */
  reopen(): Promise<Store>;
}

export type DefineCase = (name: string, run: (fixture: Fixture) => Promise<void>) => ContractCase;

// Real time, and only for a store that never answers: a case takes milliseconds, seconds on a slow
// disk.
const caseLimitMs = 60_000;

export function freshKey(): string {
  return `contract-${randomUUID()}`;
}

/** A change to `record` from the version that `expected` shows. */
export function changeTo(record: string, expected?: { version?: string | undefined }): StoreChange {
  return { expected: expected?.version, version: randomUUID(), record };
}

/** The bound of a record of a store that states none. */
export const defaultMaxRecordBytes = 1_000_000;

/**
 * Returns a record as large as the store keeps: of `maxRecordBytes`, or of a million bytes if the
 * store states no bound.
 */
export function largestRecord({ maxRecordBytes = defaultMaxRecordBytes }: Store): string {
  return '0123456789'.repeat(Math.ceil(maxRecordBytes / 10)).slice(0, maxRecordBytes);
}

/** Swaps, expecting success, and returns the change that is now kept. */
export async function write(store: Store, key: string, record: string, expected?: StoreChange): Promise<StoreChange> {
  const change = changeTo(record, expected);
  const { swapped } = await store.swap(key, change);
  assert.equal(swapped, true, 'a swap that nothing stood against was refused');
  return change;
}

/** Swaps, expecting the store to refuse. */
export async function expectRefusal(store: Store, key: string, change: StoreChange): Promise<void> {
  assert.equal((await store.swap(key, change)).swapped, false, 'a swap was carried out that had to be refused');
}

/** Executes a change that was executed before, expecting success again. */
export async function expectRepeatable(store: Store, key: string, change: StoreChange): Promise<void> {
  assert.equal((await store.swap(key, change)).swapped, true, 'a repeated swap was refused');
}

/** Loads, and expects what `change` brought; without one, that nothing is kept. */
export async function expectKept(
  store: Store,
  key: string,
  change?: { record: string; version: string },
): Promise<StoreSnapshot> {
  const snapshot = await store.load(key);
  const { record, version } = snapshot;
  if (!change) assert.ok(record === undefined && version === undefined, 'the store shows a record that nobody wrote');
  else if (version === undefined) assert.fail('the store shows no record, although it acknowledged one');
  else if (version !== change.version)
    assert.fail('the store shows another version than the one that was written last');
  else if (record !== change.record) assert.fail(differenceOf(record ?? '', change.record));
  return snapshot;
}

/**
 * Says how a record was changed. Not assert.equal: a difference of a million characters takes long
 * to draw.
 */
function differenceOf(kept: string, written: string): string {
  if (kept !== '' && written.startsWith(kept))
    return `the store truncated the record: it keeps ${kept.length} characters of ${written.length}`;
  return `the store changed the record: ${kept.length} characters came back, and ${written.length} were written`;
}

export function caseDefiner(open: OpenStore): DefineCase {
  return (name, run) => ({
    name,
    async run() {
      const clock = steppableClock();
      let subject = await open({ clock });
      const fixture: Fixture = {
        store: subject.store,
        key: freshKey(),
        clock,
        another: () => subject.another(),
        async reopen() {
          await subject.close();
          subject = await open({ clock }).catch((cause: unknown) => {
            throw new Error('open() rejected when this case called it a second time, after close()', { cause });
          });
          return subject.store;
        },
      };
      try {
        await within(run(fixture), 'the case', caseLimitMs);
      } finally {
        await subject.close();
      }
    },
  });
}
