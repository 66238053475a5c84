import { randomUUID } from 'node:crypto';
import { type RecordOwner, recordKey } from '@service-auth/core/record';
import { abortable } from '@service-auth/core/store';
import { noRecord } from '../report/screen.ts';
import { duration } from '../report/text.ts';
import { adviceOf, nameOf, type OpenedStore } from '../stores/address.ts';
import { type Diagnosis, failure, ok, warning } from '../stores/diagnosis.ts';
import { factsOf } from '../stores/other-places.ts';

/** All that the store is asked ends within this time, whatever it leaves without an answer. */
const deadlineMs = 10_000;
const tolerableMs = 5_000;
const unknown = 'look at its address and its log.';

/**
 * Reads the store, compares its clock, and tries whether it swaps as core needs it. `owner`: whose
 * record it has. If that is wrong, the store can be tried all the same.
 */
export async function examineStore(opened: OpenedStore, owner: RecordOwner): Promise<readonly Diagnosis[]> {
  const { store, label, trial } = opened;
  const known = await recordKey(owner).catch(() => undefined);
  const key = known ?? 'doctor';
  const signal = AbortSignal.timeout(deadlineMs);
  const found: Diagnosis[] = [];
  try {
    // The first call connects.
    await store.load(key, { signal });
    const startedAt = performance.now();
    const askedAt = Date.now();
    const snapshot = await store.load(key, { signal });
    const ms = Math.round(performance.now() - startedAt);
    found.push(ok(`${label} answers in ${ms} ms`), clock(snapshot.now - (askedAt + ms / 2)));
    if (snapshot.record === undefined) found.push(warning('it has no record of this client yet', noRecord));
    const { warnings = [] } = snapshot as { warnings?: readonly string[] };
    found.push(...warnings.map((message) => warning(message)));
  } catch (error) {
    return [failure(`${label} cannot be read (${nameOf(error)})`, adviceOf(error) ?? unknown)];
  }
  if (trial) found.push(await swaps(trial, signal));
  found.push(...(await factsOf(opened, known === undefined ? undefined : owner, signal, (error) => [notTold(error)])));
  return found;
}

function clock(aheadMs: number): Diagnosis {
  const by = duration(Math.abs(aheadMs));
  if (Math.abs(aheadMs) < tolerableMs) return ok('its clock agrees with this machine');
  const message = `its clock is ${by} ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine`;
  return warning(message, 'let both follow a time server. Tokens and limits follow the clock of the store.');
}

/** Two first swaps, of which one must win, in a place that is removed afterwards. */
async function swaps(trial: NonNullable<OpenedStore['trial']>, signal: AbortSignal): Promise<Diagnosis> {
  const key = `doctor-${randomUUID()}`;
  const { store, remove } = trial(key);
  try {
    const change = () => ({ version: randomUUID(), record: 'a trial of service-auth doctor' });
    const [first, second] = [change(), change()];
    const both = await Promise.all([store.swap(key, first, { signal }), store.swap(key, second, { signal })]);
    const winners = both.filter(({ swapped }) => swapped).length;
    const { version } = await store.load(key, { signal });
    const kept = both[0]?.swapped ? first.version : second.version;
    return winners === 1 && version === kept
      ? ok('of two writers at once, one wins, as it must')
      : failure(`of two writers at once, ${winners} won`, 'this store cannot keep the count; use another one.');
  } catch (error) {
    return failure(`it cannot be written (${nameOf(error)})`, adviceOf(error) ?? unknown);
  } finally {
    await abortable(remove(), signal).catch(() => {});
  }
}

function notTold(error: unknown): Diagnosis {
  return warning(`its settings cannot be read (${nameOf(error)})`, 'this user may lack the right to read them.');
}
