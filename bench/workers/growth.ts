import { createRandom } from '../../tests/protocol/src/random.ts';
import { SingleFlightCache } from '../contenders/handwritten.ts';
import { createOurs, instantTransport } from '../contenders/ours.ts';
import { type CreateSource, loadSources } from '../contenders/peers.ts';
import { heapInUse } from '../harness/allocation.ts';
import type { Client } from '../harness/client.ts';
import { compare } from '../harness/compare.ts';
import type { Rounds } from '../harness/statistics.ts';

export const closure = 'a closure with a token';
export const singleFlight = 'handwritten cache, single flight';
export const getToken = 'getToken()';
export const peekToken = 'peekToken()';

export interface GrowthInput {
  readonly name: string;
  readonly client: Client;
  /** Counts of clients; each is a group of its own. */
  readonly sizes: readonly number[];
  readonly rounds: number;
}

export interface GrowthOutput {
  /** The growth for each number of clients. */
  readonly rounds: Rounds;
  /** The heap of one client of the largest group. */
  readonly heapBytes: number;
}

const turns = 2 ** 16;

/** Asks clients of groups of several sizes for their token, in an order drawn once. */
export default async function growth({ name, client, sizes, rounds }: GrowthInput): Promise<GrowthOutput> {
  const create = await creatorOf(name, client);
  await fill(create, 1);
  const random = createRandom('turns');
  const contenders = [];
  const all: (() => unknown)[] = [];
  let heapBytes = Number.NaN;
  for (const size of sizes) {
    const before = heapInUse();
    const clients = await fill(create, size);
    heapBytes = (heapInUse() - before) / size;
    all.push(...clients);
    const order = Uint32Array.from({ length: turns }, () => random.integer(0, size - 1));
    let turn = 0;
    const run = () => {
      turn = (turn + 1) % turns;
      return (clients[order[turn] as number] as () => unknown)();
    };
    contenders.push({ name: `${size}`, run });
  }
  if (rounds === 0) return { rounds: {}, heapBytes };
  // On a busy machine the clients took so long to create that the first ones have to read their records again.
  for (const ask of all) await ask();
  return { rounds: await compare(contenders, { rounds, sliceMs: 40, clock: 'processor' }), heapBytes };
}

async function fill(create: (index: number) => () => unknown, size: number): Promise<(() => unknown)[]> {
  const clients: (() => unknown)[] = [];
  for (let from = 0; from < size; from += 100) {
    const batch = Array.from({ length: Math.min(100, size - from) }, (_, index) => create(from + index));
    await Promise.all(batch.map((ask) => ask()));
    clients.push(...batch);
  }
  return clients;
}

async function creatorOf(name: string, client: Client): Promise<(index: number) => () => unknown> {
  const tokenOf = (index: number) => Buffer.from(`${index}`.padStart(754, 'x')).toString('latin1');
  const issuedTo = (index: number) => ({ value: tokenOf(index), expiresAt: Date.now() + 86_400_000 });
  if (name === closure) {
    return (index) => {
      const { value, expiresAt } = issuedTo(index);
      return async () => (Date.now() < expiresAt ? value : '');
    };
  }
  if (name === singleFlight) {
    return (index) => {
      const cache = new SingleFlightCache(async () => issuedTo(index));
      return () => cache.getToken();
    };
  }
  if (name === getToken || name === peekToken) {
    return (index) => {
      const auth = createOurs(
        { ...client, clientId: `client-${index}` },
        { transport: instantTransport(tokenOf(index)) },
      );
      return name === getToken ? () => auth.getToken() : () => auth.peekToken() ?? auth.getToken();
    };
  }
  const sources = await loadSources('caches');
  return (index) => (sources[name] as CreateSource)({ ...client, clientId: `client-${index}` });
}
