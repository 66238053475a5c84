// The messages that docs/errors.md shows are those that a program gets.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { errorPage } from '../src/contract/error-page.ts';
import { tokenRejected } from '../src/http/index.ts';
import { createServiceAuthFromEnv, type ServiceAuthErrorCode } from '../src/index.ts';
import { type Bed, createBed, failure, hour } from './support/bed.ts';
import { fails } from './support/faulty-store.ts';
import { answering, failing } from './support/scripted-endpoint.ts';

const page = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8');

const causes: Readonly<Record<ServiceAuthErrorCode, (bed: Bed) => unknown>> = {
  ERR_CONFIG: () =>
    createServiceAuthFromEnv({
      SERVICE_AUTH_URL: 'https://auth.example.com',
      SERVICE_AUTH_AUDIENCE: 'https://api.example.com/',
      SERVICE_AUTH_CLIENTID: 'my-client',
      SERVICE_AUTH_CLIENT_SECRET: 'a secret',
    }),
  async ERR_ISSUANCE_LIMIT({ client, clock, token }) {
    const auth = client({ issuanceLimit: { tokens: 10, windowMs: hour } });
    await token(auth);
    // A younger record would allow less.
    await clock.advance(2 * hour);
    for (let count = 0; count < 10; count++) {
      await token(auth);
      await auth.reset();
    }
  },
  ERR_CREDENTIALS_REJECTED({ client, endpoint, token }) {
    endpoint.next(answering(401, '{"error":"invalid_client"}'));
    return token(client());
  },
  ERR_CLIENT_SECRET: ({ client, token }) => token(client({ clientSecret: () => Promise.reject(new Error('sealed')) })),
  ERR_RATE_LIMITED({ client, endpoint, token }) {
    endpoint.next(answering(429, '', { 'retry-after': '600' }));
    return token(client());
  },
  ERR_TOKEN_ENDPOINT({ client, endpoint, token }) {
    endpoint.next(failing('ENOTFOUND'));
    return token(client());
  },
  ERR_TOKEN_RESPONSE({ client, endpoint, token }) {
    endpoint.next(answering(200, '<html>'));
    return token(client());
  },
  ERR_STORE({ client, store, token }) {
    store.always('load', fails);
    return token(client());
  },
  ERR_STORE_INTEGRITY({ client, store, clock, token }) {
    const load = async () => ({ record: 'nonsense', version: '1', now: clock.now() });
    return token(client({ store: { ...store, load } }));
  },
  ERR_TOKEN_PENDING({ client, endpoint, clock }) {
    endpoint.next(() => new Promise<never>(() => {}));
    return clock.until(client().getToken({ maxWaitMs: 2_000 }));
  },
  ERR_TOKEN_REJECTED() {
    throw tokenRejected();
  },
  async ERR_CLOSED({ client }) {
    const auth = client();
    await auth.close();
    await auth.getToken();
  },
};

test.each(Object.keys(causes) as ServiceAuthErrorCode[])('%s says what its part of the page says', async (code) => {
  const { message } = await failure(code, () => causes[code](createBed()));
  const [, shown = ''] = new RegExp(`^### \`${code}\`\n\n> (.*)$`, 'm').exec(page) ?? [];
  // The name of a record is a hash.
  expect(message.replace(/\b[0-9a-f]{40}\b/, '5f0c…')).toBe(`${shown} See ${errorPage}#${code.toLowerCase()}`);
});
