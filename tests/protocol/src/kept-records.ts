import { createServiceAuth, type ServiceAuthOptions } from '@service-auth/core';
import { decodeRecord } from '../../../packages/core/src/ledger/codec.ts';
import type { LedgerRecord } from '../../../packages/core/src/ledger/record.ts';
import { type Plan, run } from './run.ts';

/** A record that a process of a run wrote, and the store's clock then. */
export interface KeptRecord {
  readonly record: LedgerRecord;
  readonly now: number;
}

/** All records that were written in a run, in this order. */
export async function recordsOf(plan: Plan): Promise<KeptRecord[]> {
  const kept: KeptRecord[] = [];
  const watched = (options: ServiceAuthOptions) => {
    const store = options.store;
    if (typeof store !== 'object') throw new TypeError('a run has a store');
    return createServiceAuth({
      ...options,
      store: {
        ...store,
        async swap(key, change, context) {
          const result = await store.swap(key, change, context);
          const record = decodeRecord(change.record);
          if (typeof record === 'string') throw new Error(record);
          if (result.swapped) kept.push({ record, now: result.now });
          return result;
        },
      },
    });
  };
  await run(plan, watched);
  return kept;
}
