// Sends requests to an API with one client, with a token by hand and by our adapter: as it is, and once for each property that all objects then have.
// Arguments: the origin, the name of the client. The path of each request says which one it is.
import { setTimeout } from 'node:timers/promises';
import { inspect } from 'node:util';
import { attachServiceAuth } from '@service-auth/axios';
import { createServiceAuth } from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';
import { serviceAuth } from '@service-auth/got';
import { serviceAuthInterceptor } from '@service-auth/undici';
import axios, { type AxiosRequestConfig } from 'axios';
import got from 'got';
import { Agent, request, fetch as undiciFetch } from 'undici';
import { pollutions } from './pollutions.ts';

interface Sent {
  readonly method: 'GET' | 'POST';
  readonly headers: Record<string, string>;
  readonly body?: string;
}

/** Sends one request; resolves with the status. */
type Send = (url: string, sent: Sent) => Promise<number>;

const [origin = '', client = ''] = process.argv.slice(2);
const auth = createServiceAuth({
  authUrl: `${origin}/token`,
  baseUrl: `${origin}/covered`,
  audience: 'orders',
  clientId: 'client',
  clientSecret: 'secret',
});
const { authorization } = await auth.getToken();

const fetches =
  (send: typeof fetch): Send =>
  async (url, sent) =>
    (await send(url, sent)).status;

function axiosPair(defaults: AxiosRequestConfig): [Send, Send] {
  const withToken = axios.create(defaults);
  attachServiceAuth(withToken, auth);
  const sends =
    (instance: typeof withToken): Send =>
    async (url, { body: data, ...sent }) =>
      (await instance.request({ url, ...sent, ...(data && { data }) })).status;
  return [sends(axios.create(defaults)), sends(withToken)];
}

const gotPair = (): [Send, Send] => {
  const sends =
    (instance: typeof got): Send =>
    async (url, sent) =>
      (await instance(url, { ...sent, retry: { limit: 0 } })).statusCode;
  // In the place where the adapter adds it, so that the order of the headers is the same.
  const addToken = ({ headers }: { headers: Record<string, unknown> }) => {
    headers['authorization'] = authorization;
  };
  return [
    sends(got.extend({ hooks: { beforeRequest: [addToken] } })),
    sends(got.extend(serviceAuth(auth)) as typeof got),
  ];
};

const undiciPair = (): [Send, Send] => {
  const sends =
    (dispatcher: Agent): Send =>
    async (url, sent) => {
      const response = await request(url, { dispatcher, ...sent });
      return response.body.dump().then(() => response.statusCode);
    };
  return [sends(new Agent()), sends(new Agent().compose(serviceAuthInterceptor(auth)) as Agent)];
};

const clients: Readonly<Record<string, () => [byHand: Send, byAdapter: Send]>> = {
  fetch: () => [fetches(fetch), fetches(createAuthFetch(auth))],
  'undici, fetch': () => {
    const send = undiciFetch as unknown as typeof fetch;
    return [fetches(send), fetches(createAuthFetch(auth, { fetch: send }))];
  },
  axios: () => axiosPair({ adapter: 'http' }),
  'axios, fetch adapter': () => axiosPair({ adapter: 'fetch' }),
  got: gotPair,
  undici: undiciPair,
};

const requests: readonly Sent[] = [
  { method: 'GET', headers: { accept: 'text/plain' } },
  { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'order' },
];

const connect = clients[client];
if (!connect) throw new Error(`There is no client ${client}.`);
const [byHand, byAdapter] = connect();
const outcomes: Record<string, number | string> = {};
/** The requests whose errors show the token. */
const leaks: Record<'hand' | 'adapter', string[]> = { hand: [], adapter: [] };

/** As a logger prints it while the prototype is polluted. Empty if printing fails. */
function printed(error: unknown): string {
  try {
    return inspect(error, { depth: 8 }) + JSON.stringify(error);
  } catch {
    return '';
  }
}

/** Sends a request in both ways at once. Only if the one by hand hangs may the other one hang, too. */
async function sendBoth(path: string, own: Sent, sent: Sent): Promise<void> {
  const outcomeOf = (sending: Promise<number>, sender: 'hand' | 'adapter') =>
    sending.catch((error) => {
      // Printing takes long. One error of the request by hand shows that a leak would be found.
      const isWatched = sender === 'adapter' || path.startsWith('clean');
      if (isWatched && printed(error).includes(authorization)) leaks[sender].push(path);
      return String(error?.name);
    });
  const hand = outcomeOf(byHand(`${origin}/covered/${path}/hand`, own), 'hand');
  const adapter = outcomeOf(byAdapter(`${origin}/covered/${path}/adapter`, sent), 'adapter');
  const outcome = await Promise.race([hand, setTimeout(3_000, 'hangs')]);
  outcomes[`${path}/hand`] = outcome;
  outcomes[`${path}/adapter`] = await Promise.race([adapter, setTimeout(outcome === 'hangs' ? 0 : 15_000, 'hangs')]);
}

async function sendAll(name: string): Promise<void> {
  const field = client.startsWith('axios') ? 'Authorization' : 'authorization';
  await Promise.all(
    requests.map((sent, index) => {
      const own = client === 'got' ? sent : { ...sent, headers: { ...sent.headers, [field]: authorization } };
      return sendBoth(`${name}/${index}`, own, sent);
    }),
  );
}

process.on('uncaughtException', () => {});
await sendAll('clean');
for (const [index, { name, value, enumerable }] of pollutions.entries()) {
  Object.defineProperty(Object.prototype, name, { value, enumerable, configurable: true, writable: true });
  await sendAll(`${index}`);
  Reflect.deleteProperty(Object.prototype, name);
}
process.stdout.write(JSON.stringify({ outcomes, leaks }), () => process.exit());
