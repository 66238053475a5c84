import type { CommonSettings } from './settings.ts';
import { SharedLedger } from './shared-ledger.ts';
import type { Store } from './store.ts';

type Ledgers = Map<string, WeakRef<SharedLedger>>;

// The levels are the store, then the token endpoint with the agreement, then the client id. A process may have ten thousand clients, so each adds little.
const ledgersOf = new WeakMap<Store, Map<string, Ledgers>>();
// The names of ledgers that are gone are removed when so many are known.
const sweptAt = 1_000;

/** Returns the ledger of a client id in a store. Clients of one process share it if they state the same agreement and have the same clock. */
export function ledgerOf(settings: CommonSettings, clientId: string): SharedLedger {
  const { store, endpoint, clock, limits } = settings;
  const ofStore = ledgersOf.get(store) ?? new Map<string, Ledgers>();
  ledgersOf.set(store, ofStore);
  const name = JSON.stringify([endpoint, limits.terms]);
  const ledgers = ofStore.get(name) ?? new Map<string, WeakRef<SharedLedger>>();
  ofStore.set(name, ledgers);
  const known = ledgers.get(clientId)?.deref();
  if (known?.settings.clock === clock) return known;
  const ledger = new SharedLedger(settings, clientId);
  ledgers.set(clientId, new WeakRef(ledger));
  if (ledgers.size % sweptAt === 0) sweep(ledgers);
  return ledger;
}

function sweep(ledgers: Ledgers): void {
  for (const [clientId, ledger] of ledgers) if (!ledger.deref()) ledgers.delete(clientId);
}
