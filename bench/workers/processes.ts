import { createServiceAuth, type Store } from '@service-auth/core';
import { seedGlobals } from '../../tests/protocol/src/globals.ts';
import { createRandom } from '../../tests/protocol/src/random.ts';
import { createWorld } from '../../tests/protocol/src/world.ts';
import type { AudiencesInput, AudiencesOutput } from './audiences.ts';

export interface ProcessesInput extends Omit<AudiencesInput, 'sharesAudiences'> {
  /** Another seed is another run. */
  readonly seed: number;
}

const epoch = Date.UTC(2026, 0, 1);

/**
 * Measures the same as `audiences.ts`, in the time of the simulator. There each process has a processor of its own, so none waits while another one reads or writes
 * the record. Only the store and the token endpoint take time.
 */
export default async function processes(input: ProcessesInput): Promise<AudiencesOutput> {
  const world = createWorld(() => {}, undefined, Number.POSITIVE_INFINITY);
  const pause = (ms: number) => new Promise<void>((resolve) => void world.at(world.now + ms, resolve));
  const now = () => Math.floor(epoch + world.now);
  const clock = {
    now,
    monotonic: () => world.now,
    setTimer: (callback: () => void, ms: number) => world.at(world.now + ms, callback),
  };
  const counts = { loads: 0, swaps: 0, tokenRequests: 0 };
  let kept: { readonly record?: string; readonly version?: string } = {};
  const openStore = (): Store => ({
    durability: 'durable',
    maxRecordBytes: 4_000_000,
    async load() {
      counts.loads += 1;
      await pause(input.storeMs);
      return { ...kept, now: now() };
    },
    async swap(_key, { expected, version, record }) {
      counts.swaps += 1;
      await pause(input.storeMs);
      const swapped = kept.version === expected;
      if (swapped) kept = { record, version };
      return { swapped, now: now() };
    },
  });
  const transport = async () => {
    counts.tokenRequests += 1;
    const token = `${counts.tokenRequests}`.padStart(input.tokenLength, 'x');
    await pause(input.answerMs);
    const body = JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in: 86_400 });
    return { status: 200, headers: { 'content-type': 'application/json' }, body };
  };
  const restoreGlobals = seedGlobals(
    createRandom(`${input.seed}`),
    () => false,
    () => 0,
  );
  try {
    const times: number[] = [];
    let failure: unknown;
    for (let process = 0; process < input.processes; process += 1) {
      const common = {
        authUrl: 'https://auth.example.com',
        clientId: 'client',
        clientSecret: 'secret',
        store: openStore(),
      };
      for (let index = 0; index < input.audiences; index += 1) {
        const audience = `api ${process} ${index}`;
        const issuanceLimit = { tokens: 100_000, reserve: 0 };
        const auth = createServiceAuth({ ...common, audience, transport, clock, issuanceLimit });
        auth.getToken().then(
          () => times.push(world.now),
          (error: unknown) => {
            failure = error;
          },
        );
      }
    }
    const all = input.processes * input.audiences;
    while (times.length < all && failure === undefined) await world.runUntil(world.now + 1_000);
    if (failure !== undefined) throw failure;
    times.sort((a, b) => a - b);
    return { medianMs: times[times.length >> 1] ?? Number.NaN, lastMs: times.at(-1) ?? Number.NaN, ...counts };
  } finally {
    restoreGlobals();
  }
}
