import { setTimeout } from 'node:timers/promises';
import { type Clock, createServiceAuth, type Store } from '@service-auth/core';
import { seedGlobals } from '../../tests/protocol/src/globals.ts';
import { createRandom } from '../../tests/protocol/src/random.ts';
import { createWorld } from '../../tests/protocol/src/world.ts';

export interface AudiencesInput {
  /** Clients that share nothing but the store. */
  readonly processes: number;
  /** The number of audiences of each. */
  readonly audiences: number;
  /**
   * `shared`: all processes have the same audiences; otherwise no two of them have one in common. `own processor`: in the time of the simulator,
   * where only the store and the token endpoint take time, so none waits while another one reads or writes the record. All others run in one thread.
   */
  readonly kind?: 'shared' | 'own processor' | undefined;
  readonly tokenLength: number;
  readonly storeMs: number;
  readonly answerMs: number;
  /** Another seed is another run of the simulator. */
  readonly seed: number;
}

export interface AudiencesOutput {
  /** The time until the client in the middle had its token, and until the last one had. */
  readonly medianMs: number;
  readonly lastMs: number;
  readonly loads: number;
  readonly swaps: number;
  readonly tokenRequests: number;
}

/** A time to measure in. */
interface Time {
  /** Undefined: that of this machine. */
  readonly clock?: Clock;
  /** Milliseconds since the beginning. */
  now(): number;
  pause(ms: number): Promise<unknown>;
  /** Resolves when all are done. */
  until(all: Promise<unknown>): Promise<unknown>;
}

const epoch = Date.UTC(2026, 0, 1);

function timeOfMachine(): Time {
  const begunAt = performance.now();
  return { now: () => performance.now() - begunAt, pause: setTimeout, until: (all) => all };
}

function timeOfSimulator(seed: number): Time {
  const world = createWorld(() => {}, undefined, Number.POSITIVE_INFINITY);
  seedGlobals(
    createRandom(`${seed}`),
    () => false,
    () => 0,
  );
  return {
    clock: {
      now: () => Math.floor(epoch + world.now),
      monotonic: () => world.now,
      setTimer: (callback, ms) => world.at(world.now + ms, callback),
    },
    now: () => world.now,
    pause: (ms) => new Promise<void>((resolve) => void world.at(world.now + ms, resolve)),
    async until(all) {
      let isDone = false;
      const done = all.finally(() => {
        isDone = true;
      });
      done.catch(() => {});
      while (!isDone) await world.runUntil(world.now + 1_000);
      return done;
    },
  };
}

/** Clients of many audiences ask for their first token at once. The process does nothing else, for the simulator replaces its globals. */
export default async function audiences(input: AudiencesInput): Promise<AudiencesOutput> {
  const { clock, now, pause, until } = input.kind === 'own processor' ? timeOfSimulator(input.seed) : timeOfMachine();
  const storeNow = () => clock?.now() ?? Date.now();
  const counts = { loads: 0, swaps: 0, tokenRequests: 0 };
  let kept: { readonly record?: string; readonly version?: string } = {};
  // A process has a ledger for each store object, so each of them gets an object of its own.
  const openStore = (): Store => ({
    durability: 'durable',
    maxRecordBytes: 4_000_000,
    async load() {
      counts.loads += 1;
      await pause(input.storeMs);
      return { ...kept, now: storeNow() };
    },
    async swap(_key, { expected, version, record }) {
      counts.swaps += 1;
      await pause(input.storeMs);
      const swapped = kept.version === expected;
      if (swapped) kept = { record, version };
      return { swapped, now: storeNow() };
    },
  });
  const transport = async () => {
    counts.tokenRequests += 1;
    const token = `${counts.tokenRequests}`.padStart(input.tokenLength, 'x');
    await pause(input.answerMs);
    const body = JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in: 86_400 });
    return { status: 200, headers: { 'content-type': 'application/json' }, body };
  };
  const clients = Array.from({ length: input.processes }, (_, process) => {
    const store = openStore();
    return Array.from({ length: input.audiences }, (_, index) =>
      createServiceAuth({
        authUrl: 'https://auth.example.com',
        audience: input.kind === 'shared' ? `api ${index}` : `api ${process} ${index}`,
        clientId: 'client',
        clientSecret: 'secret',
        store,
        transport,
        issuanceLimit: { tokens: 100_000, reserve: 0 },
        ...(clock && { clock }),
      }),
    );
  }).flat();
  const begunAt = now();
  const times: number[] = [];
  const ask = async (auth: (typeof clients)[number]) => {
    await auth.getToken();
    times.push(now() - begunAt);
  };
  await until(Promise.all(clients.map(ask)));
  times.sort((a, b) => a - b);
  return { medianMs: times[times.length >> 1] ?? Number.NaN, lastMs: times.at(-1) ?? Number.NaN, ...counts };
}
