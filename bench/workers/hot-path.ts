import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { TracerProvider } from '@opentelemetry/sdk-trace';
import { instrumentServiceAuth } from '@service-auth/opentelemetry';
import { createLimit, createNaiveCache, SingleFlightCache } from '../contenders/handwritten.ts';
import { createOurs, instantTransport } from '../contenders/ours.ts';
import { loadSources } from '../contenders/peers.ts';
import { bytesPerCall } from '../harness/allocation.ts';
import type { Client } from '../harness/client.ts';
import { type Contender, compare } from '../harness/compare.ts';
import type { Rounds } from '../harness/statistics.ts';

export interface HotPathInput {
  readonly client: Client;
  readonly rounds: number;
  readonly sliceMs: number;
  readonly withPeers: boolean;
}

export interface HotPathOutput {
  readonly rounds: Rounds;
  readonly bytes: Readonly<Record<string, number>>;
}

/** Everybody has a token that is fresh for the whole day, and is asked for it. */
export default async function hotPath({ client, rounds, sliceMs, withPeers }: HotPathInput): Promise<HotPathOutput> {
  const contenders = [...(await createOwn(client)), ...(withPeers ? await createPeers(client) : [])];
  const times = await compare(contenders, { rounds, sliceMs });
  const bytes: Record<string, number> = {};
  for (const { name, run } of contenders) bytes[name] = await bytesPerCall(run);
  return { rounds: times, bytes };
}

async function createOwn(client: Client): Promise<Contender[]> {
  const issued = { value: 'x'.repeat(754), expiresAt: Date.now() + 86_400_000 };
  const ask = async () => issued;
  const [limit, twin] = [createLimit(issued), createLimit(issued)];
  const settled = Promise.resolve(issued.value);
  const naive = createNaiveCache(ask);
  const careful = new SingleFlightCache(ask);
  const auth = createOurs(client, { transport: instantTransport(issued.value) });
  const observed = createOurs(client, { transport: instantTransport(issued.value) });
  observed.subscribe(() => {}, { operations: true });
  const silent = createOurs(client, { transport: instantTransport(issued.value) });
  instrumentServiceAuth(silent);
  const instrumented = createOurs(client, { transport: instantTransport(issued.value) });
  instrumentServiceAuth(instrumented, { meterProvider: new MeterProvider(), tracerProvider: new TracerProvider() });
  const clients = [auth, observed, silent, instrumented];
  await Promise.all([naive(), careful.getToken(), ...clients.map((each) => each.getToken())]);
  return [
    { name: 'a property and Date.now()', run: limit.peek },
    { name: 'a property and Date.now(), again', run: twin.peek },
    { name: 'an async function and Date.now()', run: limit.get },
    { name: 'an async function and Date.now(), again', run: twin.get },
    { name: 'one settled promise', run: () => settled },
    { name: 'handwritten cache', run: naive },
    { name: 'handwritten cache, single flight', run: () => careful.getToken() },
    { name: 'peekToken()', run: () => auth.peekToken() },
    { name: 'getToken()', run: () => auth.getToken() },
    { name: 'getToken(), again', run: () => auth.getToken() },
    { name: 'getToken(), with a listener', run: () => observed.getToken() },
    { name: 'getToken(), instrumented, no provider', run: () => silent.getToken() },
    { name: 'getToken(), instrumented', run: () => instrumented.getToken() },
  ];
}

async function createPeers(client: Client): Promise<Contender[]> {
  const contenders: Contender[] = [];
  for (const [name, create] of Object.entries(await loadSources('caches'))) {
    const run = create(client);
    await run();
    contenders.push({ name, run });
  }
  return contenders;
}
