import type { CommonSettings } from './settings.ts';
import { SharedLedger } from './shared-ledger.ts';
import type { Store } from './store.ts';

const ledgersOf = new WeakMap<Store, Map<string, WeakRef<SharedLedger>>>();
// The names of ledgers that are gone are removed when so many are known.
const sweptAt = 1_000;

/** Returns the ledger of a client id in a store. Clients of one process share it if they state the same agreement and have the same clock. */
export function ledgerOf(settings: CommonSettings, clientId: string): SharedLedger {
  const { store, endpoint, clock, limits } = settings;
  const ledgers = ledgersOf.get(store) ?? new Map<string, WeakRef<SharedLedger>>();
  ledgersOf.set(store, ledgers);
  const name = JSON.stringify([endpoint, clientId, limits.terms]);
  const known = ledgers.get(name)?.deref();
  if (known?.settings.clock === clock) return known;
  const ledger = new SharedLedger(settings, clientId);
  ledgers.set(name, new WeakRef(ledger));
  if (ledgers.size % sweptAt === 0) sweep(ledgers);
  return ledger;
}

function sweep(ledgers: Map<string, WeakRef<SharedLedger>>): void {
  for (const [name, ledger] of ledgers) if (!ledger.deref()) ledgers.delete(name);
}
