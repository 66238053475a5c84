import type { StoreChange, Transport } from '@service-auth/core';
import { decodeRecord, encodeRecord } from '../../../packages/core/src/ledger/codec.ts';
import type { LedgerRecord, StoredToken } from '../../../packages/core/src/ledger/record.ts';
import { minute } from './judge/units.ts';
import { createMachine } from './machine.ts';
import type { Run } from './parts.ts';
import { credentials } from './service.ts';
import { createSimulatedStore, type SimulatedStore } from './simulated-store.ts';

/** The one key with which all clients of a run with exchanges seal their tokens. */
export const sharedStoreKey: string = 'CANARY store key of 32 characters';

/** Clients that have the secret and the key in common with those of the run, but not the client id, or not the token endpoint. */
const strangers = [
  { ...credentials, clientId: 'other client' },
  { ...credentials, authUrl: 'https://other.example.com' },
];

/**
 * Creates the strangers of one run, whose tokens somebody takes who can write to the store, and puts sealed tokens where they do not belong. The
 * returned function changes one stored token, and returns whether there was one.
 */
export function createExchanges({ world, store, settings, createServiceAuth, ...run }: Run): () => boolean {
  const random = run.random.fork('exchanges');
  const abroad = strangers.map(({ clientId, authUrl }, index) => {
    const theirs = createSimulatedStore(world);
    const machine = createMachine(world, `stranger${index}`, random.integer(0, 10 * minute));
    const base = { ...credentials, clientId, authUrl, storeKey: sharedStoreKey, clock: machine.clock };
    const reach = {
      store: {
        durability: 'durable' as const,
        load: async () => theirs.load('left'),
        swap: async (_key: string, change: StoreChange) => theirs.swap('left', change),
      },
      transport: issuing(clientId, authUrl),
    };
    for (const audience of settings.audiences) {
      const client = createServiceAuth({ ...base, ...reach, audience, instance: machine.name });
      const ask = () => {
        void client.getToken().catch(() => {});
        world.at(world.now + 30 * minute, ask);
      };
      ask();
    }
    return theirs;
  });
  const before: StoredToken[] = [];

  function recordOf(of: SimulatedStore): LedgerRecord | undefined {
    const record = decodeRecord(of.kept('left')?.record ?? '');
    return typeof record === 'string' ? undefined : record;
  }

  /** Returns a token that the intruder can put in the place of another one. */
  function substituteOf(token: StoredToken, { tokens }: LedgerRecord): StoredToken | undefined {
    const others = tokens.filter(({ name }) => name !== token.name);
    const older = before.filter(({ id }) => id !== token.id);
    const candidates: readonly (StoredToken | undefined)[] = [
      random.pick([undefined, ...others]),
      ...abroad.map((theirs) => recordOf(theirs)?.tokens.find(({ name }) => name === token.name)),
      // An older token under the id of the present one, as a later one, or with a longer lifetime.
      older[0] && { ...random.pick(older), id: token.id },
      older[0] && { ...random.pick(older), generation: token.generation + 1 },
      { ...token, lifetimeMs: token.lifetimeMs + 600 * minute },
    ];
    return random.pick(candidates);
  }

  return () => {
    const record = recordOf(store);
    if (!record || record.tokens.length === 0) return false;
    const token = random.pick(record.tokens);
    before.push(token);
    const substitute = substituteOf(token, record);
    if (!substitute) return false;
    const { name, keyId } = token;
    const tokens = record.tokens.map((other) => (other === token ? { ...substitute, name, keyId } : other));
    store.replace(encodeRecord({ ...record, tokens }));
    return true;
  };
}

/** A token endpoint that never fails. */
function issuing(clientId: string, authUrl: string): Transport {
  let issued = 0;
  return async () => {
    issued += 1;
    const token = `CANARY-token-of-${clientId}-${new URL(authUrl).hostname}-${issued}`.replaceAll(' ', '-');
    const body = JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in: 14_400 });
    return { status: 200, headers: {}, body };
  };
}
