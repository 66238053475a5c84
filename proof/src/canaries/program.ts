// A program as a user may write it, at its most talkative: it prints every token, event, error and result in every way there is.
// Arguments: where the token endpoint and the API are, where the store may keep its files, and where to leak on purpose. The secret is in the
// environment, not in the source: NODE_DEBUG prints sources.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { createServiceAuth } from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';
import { fileStore } from '@service-auth/file';

const [origin = '', directory = '', leak = ''] = process.argv.slice(2);
const secret = process.env['CLIENT_SECRET'] ?? '';

function print(value: unknown): void {
  console.log(value, String(value), JSON.stringify(value));
  console.error(inspect(value, { depth: Number.POSITIVE_INFINITY, showHidden: true, customInspect: false }));
  console.error(inspect(value, { depth: Number.POSITIVE_INFINITY, showHidden: true, getters: true }));
  if (value instanceof Error) console.error(value.stack, value.cause);
}

const printed = (promise: Promise<unknown>): Promise<void> => promise.then(print, print);

for (const behaviour of [
  'works',
  'echoes-500',
  'echoes-400',
  'echoes-200',
  'redirects',
  'limits',
  'breaks',
  'unreachable',
]) {
  const auth = createServiceAuth({
    authUrl: behaviour === 'unreachable' ? 'http://127.0.0.1:1' : `${origin}/${behaviour}`,
    baseUrl: `${origin}/api`,
    audience: 'orders',
    clientId: 'client',
    clientSecret: behaviour === 'limits' ? async () => secret : secret,
    store: fileStore(join(directory, behaviour)),
    timeoutMs: 5_000,
    onEvent: print,
  });
  const authFetch = createAuthFetch(auth);
  await printed(auth.getToken());
  await printed(authFetch(`${origin}/api/orders`).then(async (response) => [response, await response.text()]));
  await printed(authFetch(`${origin}/elsewhere`));
  const token = auth.peekToken();
  if (token) await printed(auth.invalidate(token));
  await printed(auth.getUsage());
  await printed(auth.reset());
  await printed(auth.close());
  print(auth);
}
try {
  createServiceAuth({ authUrl: secret, audience: ` ${secret}`, clientId: '', clientSecret: ` ${secret}` });
} catch (error) {
  print(error);
}

if (leak === 'stdout') console.log(`Bearer ${secret}`);
if (leak === 'stderr') console.error(new Error('failed', { cause: new Error(`client_secret=${secret}`) }));
if (leak === 'file') writeFileSync(join(directory, 'dump'), secret);
