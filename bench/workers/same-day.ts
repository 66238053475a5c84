import { flushCompileCache } from 'node:module';
import { setImmediate } from 'node:timers/promises';
import type { Clock, Store, Transport } from '@service-auth/core';
import { loadPeerModule } from '../contenders/peers.ts';
import type { Client } from '../harness/client.ts';

/** What a process of the day runs. `name`: one of `programs`, or of `peers/same-day.js`. */
export interface DayInput {
  readonly name: string;
  readonly client: Client;
  readonly redis: string;
  /** Midnight, in epoch milliseconds. */
  readonly midnight: number;
}

/** At `at`, in milliseconds since midnight: begin, call the API once, end in good order, or only let timers fire. */
export interface DayOrder {
  readonly at: number;
  readonly begin?: DayInput;
  readonly does?: 'call' | 'stop';
}

export interface DayReply {
  /** When the next timer fires, if no order comes before. */
  readonly nextAt?: number | undefined;
  /** The statuses of the calls that have ended since the last reply. 0: there was no answer. */
  readonly statuses: readonly number[];
}

/** Calls the API once, and resolves with the status of its answer. */
type Call = () => Promise<number>;

interface Program {
  readonly call: Call;
  close?(): Promise<void>;
}

export const ours = 'Service Auth';
export const byHand = 'your cache with a lock in Redis';
export const byHandSpaced = 'the same, and a new token stays for a minute';
export const naive = 'a token for each process and each 401';

// Time stands still while a process works: its clock moves from one order or timer to the next.
let now = 0;
let program: Program;
let statuses: number[] = [];
const inFlight = new Set<Promise<unknown>>();
const timers = new Set<{ readonly callback: () => void; readonly dueAt: number }>();
const epochOf = ({ midnight }: DayInput) => Math.floor(midnight + now);

const programs: Readonly<Record<string, (input: DayInput) => Promise<Program>>> = {
  async [ours](input) {
    const [{ createOurs }, { createAuthFetch }, { redisStore }, { Redis }] = await Promise.all([
      import('../contenders/ours.ts'),
      import('@service-auth/fetch'),
      import('@service-auth/redis'),
      import('ioredis'),
    ]);
    trackCryptography();
    const { client } = input;
    const auth = createOurs(client, {
      baseUrl: new URL('.', client.apiUrl).href,
      store: inTimeOfDay(redisStore(new Redis(input.redis)), input),
      clock: clockOf(input),
      transport,
    });
    const authFetch = createAuthFetch(auth, { fetch: (...request) => tracked(fetch(...request)) });
    return { call: () => statusOf(authFetch(client.apiUrl)), close: () => auth.close() };
  },
  [byHand]: (input) => cacheInRedis(input, 0),
  [byHandSpaced]: (input) => cacheInRedis(input, 60_000),
  async [naive]({ client }) {
    const { requestToken } = await import('../contenders/request-token.ts');
    let token: string | undefined;
    const getToken = async () => (token ??= (await requestToken(client)).value);
    const forget = async () => {
      token = undefined;
    };
    return { call: () => sendTwice(client, getToken, forget) };
  },
};

/** Obeys an order, and returns when nothing of it is under way. */
export default async function sameDay({ at, begin, does }: DayOrder): Promise<DayReply> {
  now = at;
  if (begin) {
    Date.now = () => epochOf(begin);
    program = await start(begin);
    flushCompileCache(); // It is killed, which writes nothing.
  }
  for (let timer = nextTimer(); timer && timer.dueAt <= now; timer = nextTimer()) {
    timers.delete(timer);
    timer.callback();
    await nothingInFlight();
  }
  if (does === 'call') {
    const ended = program.call().catch(() => 0);
    // A call of ours may wait for a timer. The others have none, and are under way until they end.
    void (program.close ? ended : tracked(ended)).then((status) => statuses.push(status));
  }
  if (does === 'stop') await program.close?.();
  await nothingInFlight();
  const reply = { nextAt: nextTimer()?.dueAt, statuses };
  statuses = [];
  return reply;
}

async function start(input: DayInput): Promise<Program> {
  const own = programs[input.name];
  if (own) return own(input);
  type Peers = { programs: Record<string, (client: Client, redis: string) => Promise<Call>> };
  const { programs: peers } = await loadPeerModule<Peers>('same-day');
  const peer = peers[input.name];
  if (!peer) throw new Error(`No program: ${input.name}`);
  return { call: await peer(input.client, input.redis) };
}

/** A careful team's cache: one lock for all processes, and a 401 costs a token only if no other process has got one since. */
async function cacheInRedis({ client, redis: url }: DayInput, keepMs: number): Promise<Program> {
  const [{ getTokenByRedis, forgetInRedis }, { requestToken }, { Redis }] = await Promise.all([
    import('../contenders/shared-tokens.ts'),
    import('../contenders/request-token.ts'),
    import('ioredis'),
  ]);
  const redis = new Redis(url);
  const getToken = () => getTokenByRedis(redis, client.clientId, () => requestToken(client));
  return { call: () => sendTwice(client, getToken, (token) => forgetInRedis(redis, client.clientId, token, keepMs)) };
}

/** Sends a request, and after a 401 once more. */
async function sendTwice(
  client: Client,
  getToken: () => Promise<string>,
  forget: (token: string) => Promise<unknown>,
): Promise<number> {
  const send = (token: string) => statusOf(fetch(client.apiUrl, { headers: { authorization: `Bearer ${token}` } }));
  const token = await getToken();
  const status = await send(token);
  if (status !== 401) return status;
  await forget(token);
  return send(await getToken());
}

async function statusOf(answer: Promise<Response>): Promise<number> {
  const response = await answer;
  await response.body?.cancel();
  return response.status;
}

function clockOf(input: DayInput): Clock {
  return {
    now: () => epochOf(input),
    monotonic: () => now,
    setTimer(callback, delayMs) {
      const timer = { callback, dueAt: now + delayMs };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  };
}

/** Redis tells the real time, of which the whole day takes a minute. */
function inTimeOfDay(store: Store, input: DayInput): Store {
  return {
    ...store,
    load: async (...read) => ({ ...(await tracked(store.load(...read))), now: epochOf(input) }),
    swap: async (...write) => ({ ...(await tracked(store.swap(...write))), now: epochOf(input) }),
  };
}

const transport: Transport = ({ url, ...request }) =>
  tracked(
    (async () => {
      const response = await fetch(url, { ...request, redirect: 'manual' });
      return { status: response.status, headers: response.headers, body: await response.text() };
    })(),
  );

/** The cryptography of a process takes a moment, too. */
function trackCryptography(): void {
  const methods = globalThis.crypto.subtle as unknown as Record<string, (...input: unknown[]) => Promise<unknown>>;
  for (const name of ['importKey', 'deriveKey', 'deriveBits', 'digest', 'sign', 'encrypt', 'decrypt']) {
    const method = methods[name]?.bind(methods);
    if (method) Object.defineProperty(methods, name, { value: (...input: unknown[]) => tracked(method(...input)) });
  }
}

async function tracked<Result>(work: Promise<Result>): Promise<Result> {
  inFlight.add(work);
  try {
    return await work;
  } finally {
    inFlight.delete(work);
  }
}

// What comes after an answer may begin anew some turns of the event loop later.
const quietTurns = 10;

async function nothingInFlight(): Promise<void> {
  for (let turns = 0; turns < quietTurns; turns += 1) {
    if (inFlight.size > 0) turns = 0;
    await Promise.allSettled(inFlight);
    await setImmediate();
  }
}

function nextTimer() {
  return [...timers].sort((a, b) => a.dueAt - b.dueAt)[0];
}
