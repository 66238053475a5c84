import { setTimeout } from 'node:timers/promises';
import { createServiceAuth, memoryStore, type Store } from '@service-auth/core';

export interface AudiencesInput {
  /** Clients that share nothing but the store. All of them run in one thread. */
  readonly processes: number;
  /** The number of audiences of each. */
  readonly audiences: number;
  /** True: all of them have the same audiences. False: no two of them have one in common. */
  readonly sharesAudiences: boolean;
  readonly tokenLength: number;
  readonly storeMs: number;
  readonly answerMs: number;
}

export interface AudiencesOutput {
  /** The time until the client in the middle had its token, and until the last one had. */
  readonly medianMs: number;
  readonly lastMs: number;
  readonly loads: number;
  readonly swaps: number;
  readonly tokenRequests: number;
}

/** Clients of many audiences ask for their first token at once. */
export default async function audiences(input: AudiencesInput): Promise<AudiencesOutput> {
  const { storeMs, answerMs } = input;
  const kept = memoryStore();
  const counts = { loads: 0, swaps: 0, tokenRequests: 0 };
  // A process has a ledger for each store object, so each of them gets an object of its own.
  const openStore = (): Store => ({
    durability: 'durable',
    maxRecordBytes: 4_000_000,
    async load(...call) {
      counts.loads += 1;
      await setTimeout(storeMs);
      return kept.load(...call);
    },
    async swap(...call) {
      counts.swaps += 1;
      await setTimeout(storeMs);
      return kept.swap(...call);
    },
  });
  const transport = async () => {
    counts.tokenRequests += 1;
    const token = `${counts.tokenRequests}`.padStart(input.tokenLength, 'x');
    await setTimeout(answerMs);
    const body = JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in: 86_400 });
    return { status: 200, headers: { 'content-type': 'application/json' }, body };
  };
  const clients = Array.from({ length: input.processes }, (_, process) => {
    const store = openStore();
    return Array.from({ length: input.audiences }, (_, index) =>
      createServiceAuth({
        authUrl: 'https://auth.example.com',
        audience: input.sharesAudiences ? `api ${index}` : `api ${process} ${index}`,
        clientId: 'client',
        clientSecret: 'secret',
        store,
        transport,
        issuanceLimit: { tokens: 100_000, reserve: 0 },
      }),
    );
  }).flat();
  const begunAt = performance.now();
  const ask = async (auth: (typeof clients)[number]) => {
    await auth.getToken();
    return performance.now() - begunAt;
  };
  const times = (await Promise.all(clients.map(ask))).sort((a, b) => a - b);
  return { medianMs: times[times.length >> 1] ?? Number.NaN, lastMs: times.at(-1) ?? Number.NaN, ...counts };
}
