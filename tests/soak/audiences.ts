import { setTimeout } from 'node:timers/promises';
import { createServiceAuth, memoryStore, type Store } from '@service-auth/core';
import { createTestClock } from '@service-auth/testing';
import { heapInUse } from './heap.ts';
import { common, createIssuing } from './issuing.ts';

/** The costs of a process whose clients share one client id, each with an audience of its own. */
export interface SharedRecord {
  /** Bytes of heap: the record, what is kept of it, and the clients with their tokens. */
  readonly bytes: number;
  /** Reads of the record in five minutes, in which every client is called once a second. */
  readonly loads: number;
}

/** The most that a thousand audiences may cost. */
export const most: SharedRecord = { bytes: 20_000_000, loads: 30 };

/** Creates a client for each audience, gets a token for each, and uses them for five minutes of a manual clock. */
export async function gatherAudiences(audiences: number): Promise<SharedRecord> {
  const clock = createTestClock();
  const kept = memoryStore({ clock });
  let loads = 0;
  const store: Store = {
    durability: 'durable',
    maxRecordBytes: 4_000_000,
    load: (...call) => {
      loads += 1;
      return kept.load(...call);
    },
    swap: async (...call) => {
      // As a server does, it takes a moment, in which other outcomes arrive. They are written together.
      await setTimeout(5);
      return kept.swap(...call);
    },
  };
  const { transport, issued } = createIssuing();
  const before = await heapInUse();
  const clients = Array.from({ length: audiences }, (_, index) =>
    createServiceAuth({
      ...{ ...common, store, transport, clock },
      audience: `https://api-${index}.example.com/`,
      issuanceLimit: { tokens: 100_000, reserve: 0 },
    }),
  );
  const all = () => Promise.all(clients.map((client) => client.getToken()));
  // At most 256 requests are under way, and the others would wait for this clock.
  for (let from = 0; from < audiences; from += 200)
    await Promise.all(clients.slice(from, from + 200).map((client) => client.getToken()));
  loads = 0;
  for (let second = 0; second < 300; second += 1) {
    await clock.advance(1_000);
    await all();
  }
  const bytes = (await heapInUse()) - before;
  if (issued() !== audiences) throw new Error(`${issued()} tokens were issued to ${audiences} audiences.`);
  return { bytes, loads };
}
