import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { createServiceAuth } from '../src/index.ts';
import { createBed, failure, hour } from './support/bed.ts';
import { canariesIn, secretCanary, tokenCanary, watchForCanaries } from './support/canaries.ts';
import { deadAddress } from './support/loopback.ts';
import { answering } from './support/scripted-endpoint.ts';

// All tests of this package search every event, every stored record and every expected error for the canaries.
// These tests show that a canary would be found, and provoke the most likely leaks.

test('a canary that is read during a test fails the test when it has finished', () => {
  const checks: (() => void)[] = [];
  watchForCanaries('an event', { secretCanary }, (check) => checks.push(check));
  watchForCanaries('an event', { clientId: 'orders' }, (check) => checks.push(check));
  expect(checks).toHaveLength(1);
  expect(checks[0]).toThrow(`${secretCanary} in an event`);
});

describe('a planted canary', () => {
  const hidden = Object.defineProperty(new Error('x'), 'secret', { value: secretCanary, enumerable: false });
  const cycle: { self?: unknown; secret: string } = { secret: secretCanary };
  cycle.self = cycle;
  test.each([
    ['a message', new Error(`it was ${secretCanary}`)],
    ['a stack', Object.assign(new Error('x'), { stack: `at ${secretCanary}` })],
    ['a field', Object.assign(new Error('x'), { config: { data: `{"client_secret":"${secretCanary}"}` } })],
    ['a hidden field', hidden],
    ['a symbol', { [Symbol('s')]: secretCanary }],
    ['a cause of a cause', new Error('x', { cause: new Error('y', { cause: new Error(secretCanary) }) })],
    ['an aggregate', new AggregateError([new Error('x'), new Error(secretCanary)], 'several')],
    ['a map', new Map([['k', { deep: [secretCanary] }]])],
    ['JSON alone', { toJSON: () => ({ secret: secretCanary }) }],
    ['text', secretCanary],
    [
      'a getter',
      {
        get secret() {
          return secretCanary;
        },
      },
    ],
    ['a long list', [...new Array(500).fill(0), secretCanary]],
  ])('is found in %s', (_, value) => {
    expect(canariesIn(value)).toEqual([secretCanary]);
  });

  test('is found in an object that contains itself', () => {
    expect(canariesIn(inspect(cycle))).toEqual([secretCanary]);
  });

  test('of the other kind is found as well, and nothing where nothing is', () => {
    expect(canariesIn({ header: `Bearer ${tokenCanary}.7` })).toEqual([tokenCanary]);
    expect([undefined, null, 0, {}, new Error('x'), Object.create(null)].flatMap(canariesIn)).toEqual([]);
  });
});

describe('nothing that can be read contains a secret or a token', () => {
  test('when the endpoint sends the secret back in every place it can', async () => {
    const { client, clock, endpoint } = createBed();
    const echo = JSON.stringify({
      error: secretCanary,
      error_description: secretCanary,
      access_token: `${tokenCanary}\r\n`,
    });
    const headers = {
      'retry-after': secretCanary,
      'content-type': secretCanary,
      location: `https://x/${secretCanary}`,
    };
    const auth = client();
    for (const [status, code] of [
      [200, 'ERR_TOKEN_RESPONSE'],
      [302, 'ERR_TOKEN_ENDPOINT'],
      [400, 'ERR_CREDENTIALS_REJECTED'],
      [404, 'ERR_TOKEN_ENDPOINT'],
      [429, 'ERR_RATE_LIMITED'],
      [500, 'ERR_TOKEN_ENDPOINT'],
    ] as const) {
      endpoint.next(answering(status, echo, headers));
      await clock.advance(6 * hour);
      const error = await failure(code, clock.until(auth.getToken()));
      expect(error.cause).toBeUndefined();
    }
  });

  test.each([
    [
      'an error with the request',
      () => Object.assign(new Error(secretCanary), { config: { data: secretCanary }, request: secretCanary }),
    ],
    ['text', () => secretCanary],
    ['a cause', () => new TypeError('fetch failed', { cause: new Error(secretCanary) })],
  ])('when the transport fails with %s', async (_, reason) => {
    const { client, clock, endpoint } = createBed();
    endpoint.next(() => Promise.reject(reason()));
    await failure('ERR_TOKEN_ENDPOINT', clock.until(client().getToken()));
  });

  test('when a fetch refuses the request', async () => {
    const { client } = createBed();
    const auth = client({ transport: undefined, authUrl: (await deadAddress()).replace('/oauth/token', '') });
    expect((await failure('ERR_TOKEN_ENDPOINT', auth.getToken())).cause).toBeUndefined();
  });

  test('when the store fails with an address and its password', async () => {
    const { client, clock, store } = createBed();
    const broken = Object.assign(new Error(`redis://u:${secretCanary}@h`), {
      name: `E ${secretCanary}`,
      code: secretCanary,
      record: secretCanary,
    });
    store.always('both', () => Promise.reject(broken));
    const auth = client();
    await failure('ERR_STORE', clock.until(auth.getToken()));
    await failure('ERR_STORE', clock.until(auth.reset()));
    await failure('ERR_STORE', clock.until(auth.getUsage()));
  });

  test('when options are wrong', async () => {
    const wrong = Object.fromEntries(
      [
        'authUrl',
        'baseUrl',
        'transport',
        'storeKey',
        'instance',
        'timeoutMs',
        'store',
        'clock',
        'onEvent',
        'issuanceLimit',
        'headers',
        'scheme',
      ].map((option) => [option, `${secretCanary} `]),
    );
    const all = {
      audience: ` ${secretCanary}`,
      clientId: ` ${secretCanary}`,
      clientSecret: ` ${secretCanary}`,
      ...wrong,
    };
    const { problems } = await failure('ERR_CONFIG', () => createServiceAuth({ ...all, storeKey: 'short' } as never));
    expect(problems.length).toBeGreaterThanOrEqual(14);
  });

  test('when the client itself, its tokens and its usage are inspected', async () => {
    const { client, token } = createBed();
    const auth = client();
    const first = await token(auth);
    expect([auth, first, { first }, await auth.getUsage(), auth.getToken()].flatMap(canariesIn)).toEqual([]);
  });
});
