import assert from 'node:assert/strict';
import type { ServiceAuth, ServiceAuthOptions, Store } from '@service-auth/core';
import { recordKey } from '@service-auth/core/record';
import type { CreateServiceAuth } from '../parts.ts';
import { credentials } from '../service.ts';

/** One store, one endpoint, and the processes of a fleet, each with the release that it runs. */
export interface Place {
  start(name: string, release: CreateServiceAuth): Member;
  /** The text that the store has. */
  record(): Promise<string>;
  /** The store goes back to an older record. */
  replace(record: string): Promise<void>;
  /** The store loses its record. */
  wipe(): Promise<void>;
  /** The endpoint fails from now on, and nobody knows whether it issues tokens. */
  fail(): void;
  /** The token requests that reached the endpoint. */
  readonly requests: number;
}

/** A process. */
export interface Member {
  readonly client: ServiceAuth;
  /** Gets so many tokens that nobody asked for before. Nobody is refused. */
  spend(tokens: number): Promise<void>;
  /** What it says of the record, as far as two processes must say the same. */
  said(): Promise<{ readonly used: number }>;
}

/** What a place is made of. */
export interface Parts {
  /** Opens the store as one process does. */
  readonly open: () => Store;
  readonly wipe: () => Promise<void>;
}

/** Creates a place in which nothing has happened. */
export async function createPlace({ open, wipe }: Parts): Promise<Place> {
  const key = await recordKey(credentials);
  const store = open();
  let fails = false;
  let names = 0;
  const load = () => store.load(key);

  function optionsOf(name: string): ServiceAuthOptions {
    return {
      ...credentials,
      audience: 'common',
      issuanceLimit: { tokens: 5_000, reserve: 0 },
      store: open(),
      instance: name,
      async transport() {
        place.requests += 1;
        if (fails) return { status: 503, headers: {}, body: '' };
        const answer = { access_token: `CANARY-token-${place.requests}`, token_type: 'Bearer', expires_in: 86_400 };
        return { status: 200, headers: {}, body: JSON.stringify(answer) };
      },
    };
  }

  const place = {
    requests: 0,
    start(name: string, release: CreateServiceAuth): Member {
      const options = optionsOf(name);
      const common = release(options);
      return {
        client: common,
        async spend(tokens) {
          for (let count = 0; count < tokens; count++) {
            const before = place.requests;
            await release({ ...options, audience: `audience ${++names}` }).getToken();
            assert.equal(place.requests, before + 1);
          }
        },
        async said() {
          const { used, pending, holds, availableNow, resets, recordId } = await common.getUsage();
          // Each process tells instants by its own clock.
          const kinds = holds.map(({ kind, status }) => `${kind} ${status}`);
          return { used, pending, kinds, availableNow, resets: resets.length, recordId };
        },
      };
    },
    async record() {
      return (await load()).record ?? '';
    },
    async replace(record: string) {
      const { version } = await load();
      const { swapped } = await store.swap(key, { expected: version, version: `restored ${++names}`, record });
      assert(swapped);
    },
    wipe,
    fail() {
      fails = true;
    },
  };
  return place;
}
