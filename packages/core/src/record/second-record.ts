import type { Store } from '../contract/store.ts';

/** A record that this process read. */
interface Sighting {
  readonly store: WeakRef<Store>;
  readonly epoch: string;
}

const maxKeys = 1_000;
const maxStores = 4;

// The sightings of each record key, the latest last. Clients of one client id that have different stores share a key.
const sightings = new Map<string, readonly Sighting[]>();

/**
 * Notes that `store` has the record `epoch` under `key`. Returns whether another store has another record at the same time: between two reads of this
 * store that showed the same record, the other one was read. A record that was lost meanwhile is no second record.
 */
export function isSecondRecord(store: Store, key: string, epoch: string): boolean {
  const known = sightings.get(key) ?? [];
  const mine = known.findIndex((sighting) => sighting.store.deref() === store);
  const since = mine < 0 ? [] : known.slice(mine + 1);
  const isSecond = known[mine]?.epoch === epoch && since.some((sighting) => sighting.epoch !== epoch);
  const others = known.filter((sighting, index) => index !== mine && sighting.store.deref());
  // The key moves to the end, so the keys that nobody reads any more are forgotten first.
  sightings.delete(key);
  sightings.set(key, [...others.slice(1 - maxStores), { store: new WeakRef(store), epoch }]);
  const [oldest] = sightings.keys();
  if (sightings.size > maxKeys && oldest !== undefined) sightings.delete(oldest);
  return isSecond;
}
