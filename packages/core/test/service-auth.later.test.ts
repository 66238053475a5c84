// An answer that says "later", in whatever dress, through a client with its own defaults.
import { describe, expect, test } from 'vitest';
import { createServiceAuth, memoryStore } from '../src/index.ts';
import { createBed, failure, hour, minute, second } from './support/bed.ts';
import { startServer } from './support/loopback.ts';
import { answering } from './support/scripted-endpoint.ts';

/** How long a client waits that asks a server with such an answer, and the code of its error. */
async function askedOf(status: number, headers: Record<string, string | string[]>, body: object) {
  const { url } = await startServer((response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  });
  const options = { audience: 'orders', clientId: 'client-1', clientSecret: 'secret', store: memoryStore() };
  await using auth = createServiceAuth({ authUrl: new URL(url).origin, ...options });
  const error = await auth.getToken().catch((reason: unknown) => reason);
  const { code, retryAt = 0 } = error as { code?: string; retryAt?: number };
  return { code, waitMs: retryAt - Date.now(), used: (await auth.getUsage()).used };
}

const at = () => `${Math.floor(Date.now() / second) + 40}`;

test.each([
  ['X-RateLimit-Reset', 429, () => ({ 'x-ratelimit-reset': at() }), {}],
  ['X-Rate-Limit-Reset', 429, () => ({ 'x-rate-limit-remaining': '0', 'x-rate-limit-reset': at() }), {}],
  ['a header that comes twice', 429, () => ({ 'x-ratelimit-reset': [at(), at()] }), {}],
  ['a Retry-After with a fraction', 429, () => ({ 'retry-after': '39.5' }), {}],
  ['RateLimit-Reset', 429, () => ({ 'ratelimit-remaining': '0', 'ratelimit-reset': '40' }), {}],
  ['RateLimit', 429, () => ({ ratelimit: '"default";r=0;t=40' }), {}],
  ['Retry-After of a 403', 403, () => ({ 'retry-after': '40' }), { message: 'a secondary rate limit' }],
  ['Retry-After of a code of throttling', 400, () => ({ 'retry-after': '40' }), { __type: 'ThrottlingException' }],
] as const)('%s times a limit of the rate over a real connection', async (_, status, headersNow, body) => {
  const { code, waitMs, used } = await askedOf(status, headersNow() as Record<string, string | string[]>, body);
  expect([code, used]).toEqual(['ERR_RATE_LIMITED', 0]);
  expect(waitMs).toBeGreaterThan(20 * second);
  expect(waitMs).toBeLessThan(41 * second);
});

describe('an answer that says no time', () => {
  test.each([
    [400, '{"__type":"TooManyRequestsException"}', 'ERR_RATE_LIMITED', 'rate_limited'],
    [400, '{"error":"temporarily_unavailable"}', 'ERR_TOKEN_ENDPOINT', 'backoff'],
    [400, '{"error":"server_error"}', 'ERR_TOKEN_ENDPOINT', 'backoff'],
    [200, '{"error":{"code":"TooManyRequests"}}', 'ERR_RATE_LIMITED', 'rate_limited'],
  ] as const)('%i %s holds the whole fleet for 15 minutes, and costs nothing', async (status, body, code, kind) => {
    const bed = createBed();
    const auth = bed.client();
    bed.endpoint.next(answering(status, body));
    const { retryAt } = await failure(code, bed.token(auth));
    const until = bed.clock.now() + 15 * minute;
    expect(retryAt).toBe(until);
    expect(await auth.getUsage()).toMatchObject({ used: 0, refusedBecause: kind, holds: [{ kind, until, status }] });
    const request = { status, code, ambiguous: false, retryAt: until };
    expect(bed.eventsOf('token_request_failed')).toMatchObject([request]);
    await failure(code, bed.token(bed.client({ audience: 'stock', clientSecret: 'another secret' })));
    expect(bed.endpoint.requests).toHaveLength(1);
    await bed.clock.advance(15 * minute);
    await bed.token(auth);
  });

  test('counts as a request where requests count', async () => {
    const bed = createBed();
    const auth = bed.client({ issuanceLimit: { tokens: 50, counts: 'requests' } });
    bed.endpoint.next(answering(400, '{"error":"temporarily_unavailable"}'));
    await failure('ERR_TOKEN_ENDPOINT', bed.token(auth));
    expect(await auth.getUsage()).toMatchObject({ used: 1 });
  });
});

test('a wrong address is asked again when its answer says, if that is later than it would be', async () => {
  for (const [retryAfter, waitMs] of [
    ['3600', hour],
    ['30', 5 * minute],
  ] as const) {
    const bed = createBed();
    bed.endpoint.next(answering(404, '', { 'retry-after': retryAfter }));
    const { retryAt } = await failure('ERR_TOKEN_ENDPOINT', bed.token(bed.client()));
    expect(retryAt).toBe(bed.clock.now() + waitMs);
  }
});

test('a type of token that repeats the secret is not named', async () => {
  const bed = createBed();
  const auth = bed.client({ clientSecret: 'open sesame' });
  bed.endpoint.next(answering(200, '{"access_token":"a.b.c","token_type":"Bearer of open sesame"}'));
  const { message } = await failure('ERR_TOKEN_RESPONSE', bed.token(auth));
  expect(message).toContain('its token_type is not Bearer');
  expect(message).not.toContain('sesame');
});

test('a refusal of 200 costs nothing, whatever the form of its error is', async () => {
  for (const body of ['{"error":{"code":"x"}}', '{"errorCode":"x"}', '{"errcode":1}']) {
    const bed = createBed();
    const auth = bed.client();
    bed.endpoint.next(answering(200, body));
    const { endpointStatus, oauthError } = await failure('ERR_CREDENTIALS_REJECTED', bed.token(auth));
    expect([endpointStatus, oauthError]).toEqual([200, 'other']);
    expect(await auth.getUsage()).toMatchObject({ used: 0 });
  }
});
