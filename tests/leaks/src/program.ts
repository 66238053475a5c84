// A program as a user may write it, at its most talkative: everything happens to every client over some store, and whatever it gets to see is
// printed in every way there is. Arguments: where the service is, and where stores may keep things. The canaries are in the environment, not in the
// source: NODE_DEBUG prints sources.
import { EventEmitter } from 'node:events';
import { createServiceAuth, isServiceAuthError, type ServiceAuthOptions } from '@service-auth/core';
import { privateKeyJwt } from '@service-auth/core/oauth2';
import { logLines, renderings } from '@service-auth/test-tools/renderings';
import { behaviours } from './behaviours.ts';
import type { Deadline } from './client.ts';
import { clients } from './clients.ts';
import { plant } from './planted.ts';
import { damagedStore, openStores, type Places, type Stores } from './stores.ts';

/** One cell of the table, as the program tells its parent. */
export interface Outcome {
  readonly client: string;
  readonly store: string;
  readonly behaviour: string;
  readonly outcome: number | string;
}

const [origin = '', given = ''] = process.argv.slice(2);
const places = JSON.parse(given) as Places;
const secret = process.env['SECRET_CANARY'] ?? '';
const token = process.env['TOKEN_CANARY'] ?? '';

/** For each behaviour: whether a request arrived that gets no answer. */
const kept = new EventEmitter();
process.on('message', (behaviour: string) => kept.emit(behaviour));

/** In every way there is. */
function print(value: unknown): void {
  console.log(renderings(value).join('\n'));
}

/** In every way in which somebody logs it. */
function log(error: unknown): void {
  console.log(logLines(error).join('\n'));
}

const printed = (promise: Promise<unknown>): Promise<void> => promise.then(print, print);

/** Separates what is printed, in both streams. */
function heading(text: string): void {
  console.log(`\n=== ${text}`);
  console.error(`\n=== ${text}`);
}

function outcomeOf(error: unknown): number | string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (isServiceAuthError(cause)) return cause.code;
    // These codes are those of axios, undici and got. An incomplete answer has a good status.
    const { status, statusCode, response } = Object(cause);
    const answered = status ?? statusCode ?? response?.statusCode;
    if (answered >= 400) return answered;
  }
  return 'fails';
}

async function meet(client: string, store: string, { up, down }: Stores, behaviour: string): Promise<void> {
  const connect = clients[client];
  const { options, store: fault, spent, deadline } = behaviours[behaviour] ?? {};
  const given: ServiceAuthOptions = {
    authUrl: `${origin}/${behaviour}`,
    baseUrl: `${origin}/${behaviour}/api`,
    audience: 'orders',
    clientId: `${client} over ${store}: ${behaviour}`,
    clientSecret: secret,
    headers: { 'x-api-key': `the key of a gateway, ${secret}` },
    store: fault === 'down' ? down : fault === 'damaged' ? damagedStore(secret) : up,
    onEvent: print,
    ...options?.(secret),
  };
  const connected = await connect?.(given, !deadline);
  if (!connected) throw new Error(`There is no client ${client}.`);
  const { auth } = connected;
  const controller = new AbortController();
  if (deadline === 'aborts') kept.once(behaviour, () => controller.abort());
  const limits: Record<string, Deadline> = { aborts: { signal: controller.signal }, 'times out': { timeoutMs: 200 } };
  if (spent) await auth.getToken().then(() => auth.reset());
  // So that there is one to be found on its way to a silent API.
  if (deadline === 'times out') await auth.getToken();
  const outcome = await connected.get(`${given.baseUrl}/orders`, limits[deadline ?? ''] ?? {}).then(
    (shown) => {
      for (const part of shown) print(part);
      return shown[0];
    },
    (error) => {
      if (connected.hidesRequest && !isServiceAuthError(error)) log(error);
      else print(error);
      return outcomeOf(error);
    },
  );
  process.send?.({ client, store, behaviour, outcome } satisfies Outcome);
  // A call to a silent server now waits for long.
  if (!deadline) {
    if (connected.visit) await printed(connected.visit());
    await printed(connected.get(`${origin}/elsewhere`, {}).then(([status]) => status));
  }
  const token = auth.peekToken();
  if (token) await printed(auth.invalidate(token));
  await printed(auth.getUsage());
  await printed(auth.reset());
  await printed(auth.close());
  await printed(auth.getToken());
  print([auth, token]);
  await connected.close?.();
}

const stores = await openStores(places, secret);
for (const [store, pair] of Object.entries(stores)) {
  // The stored record does not depend on the HTTP client.
  const those = store === 'file' ? Object.keys(clients) : ['core'];
  for (const client of those) {
    for (const behaviour of Object.keys(behaviours)) {
      heading(`${client} over ${store}: ${behaviour}`);
      await meet(client, store, pair, behaviour);
    }
  }
  heading(`the store ${store}`);
  await printed(pair.down.load('key'));
}
heading('wrong options');
const wrongOptions: readonly (() => ServiceAuthOptions)[] = [
  () => ({ authUrl: secret, audience: ` ${secret}`, clientId: '', clientSecret: ` ${secret}` }),
  () => ({
    tokenEndpoint: `https://auth.example/?client_secret=${secret}#${secret}`,
    ...{ issuer: secret, clientId: 'a', clientSecret: secret, scope: `"${secret}"`, resource: secret },
    parameters: { a: ` ${secret}`, client_secret: secret },
    clientAuthentication: privateKeyJwt({ key: secret, audience: '', header: { alg: secret } }),
  }),
];
for (const options of wrongOptions) {
  try {
    createServiceAuth(options());
  } catch (error) {
    print(error);
  }
}
heading('planted');
await plant({ secret, token, origin, ...places, print, log });
process.exit();
