import type { CommonSettings } from '../contract/settings.ts';
import { sharedMemoryStore, sharedRecordTexts } from './memory-store.ts';
import { SharedRecord } from './shared-record.ts';

type SharedRecords = Map<string, WeakRef<SharedRecord>>;

// The levels are what keeps the records (the store, or the memory of the process), then the token endpoint with the agreement, then the client id. A process may have ten thousand clients, so each adds little.
const recordsOf = new WeakMap<object, Map<string, SharedRecords>>();
// The names of records that are gone are removed when so many are known.
const sweptAt = 1_000;

/** Returns the record of a client id in a store. Clients of one process share it if they state the same agreement and have the same clock. */
export function sharedRecordOf(settings: CommonSettings, clientId: string): SharedRecord {
  const { store, endpoint, clock, limits } = settings;
  const keeper = store === sharedMemoryStore ? sharedRecordTexts() : store;
  const ofStore = recordsOf.get(keeper) ?? new Map<string, SharedRecords>();
  recordsOf.set(keeper, ofStore);
  const name = JSON.stringify([endpoint, limits.terms]);
  const records = ofStore.get(name) ?? new Map<string, WeakRef<SharedRecord>>();
  ofStore.set(name, records);
  const known = records.get(clientId)?.deref();
  if (known?.settings.clock === clock) return known;
  const record = new SharedRecord(settings, clientId);
  records.set(clientId, new WeakRef(record));
  if (records.size % sweptAt === 0) sweep(records);
  return record;
}

function sweep(records: SharedRecords): void {
  for (const [clientId, record] of records) if (!record.deref()) records.delete(clientId);
}
