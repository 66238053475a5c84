import { expect, test } from 'vitest';
import { checkTokenSource } from '../../src/http/index.ts';
import { createServiceAuth } from '../../src/index.ts';

const options = { authUrl: 'https://auth.example.com', audience: 'api', clientId: 'client', clientSecret: 'secret' };

test('a client without baseUrl is refused at once, in words', () => {
  expect(() => checkTokenSource(createServiceAuth(options), 'got')).toThrow(
    new TypeError(
      '[service-auth/got] This client has no baseUrl, so no request would have its token. Set the option baseUrl of createServiceAuth, or SERVICE_BASE_URL (not SERVICE_AUTH_BASE_URL), to the address of the API.',
    ),
  );
});

test('a client with baseUrl is accepted, and so is a source that does not say what it covers', () => {
  const auth = createServiceAuth({ ...options, baseUrl: 'https://api.example.com/v1' });
  expect(auth.baseUrl).toBe('https://api.example.com/v1');
  checkTokenSource(auth, 'got');
  const { baseUrl: _, ...source } = auth;
  checkTokenSource(source, 'got');
});

test.each([undefined, null, {}, 'text'])('%o is refused as a client', (auth) => {
  expect(() => checkTokenSource(auth as never, 'fetch')).toThrow(
    new TypeError('[service-auth/fetch] `auth` must be a client of createServiceAuth.'),
  );
});
