import { describe, expect, test } from 'vitest';
import { serviceUnavailable } from '../src/http/index.ts';
import { createBed, failure, hour, minute, ofProcess, second } from './support/bed.ts';
import { hangs } from './support/faulty-store.ts';
import { gated, silent } from './support/scripted-endpoint.ts';

const message = (words: string) =>
  expect.stringContaining(`The caller's time ended before there was a token: ${words}`);

describe('a caller whose maxWaitMs ends is told what it waited for', () => {
  test('the token endpoint, whose answer the next caller gets', async () => {
    const { client, clock, endpoint, token, eventsOf } = createBed();
    const { answer, release } = gated(endpoint.issue);
    endpoint.next(answer);
    const auth = client();
    const startedAt = clock.now();
    const error = await failure('ERR_TOKEN_PENDING', clock.until(auth.getToken({ maxWaitMs: 500 })));
    expect(clock.now()).toBe(startedAt + 500);
    expect(error).toMatchObject({
      message: message('the token endpoint has not answered for 0.5 s. The attempt goes on.'),
      waitsFor: 'token_endpoint',
      process: undefined,
      startedAt,
      retryAt: undefined,
    });
    expect(serviceUnavailable(error)).toEqual({ status: 503, headers: {} });
    expect(eventsOf('token_unavailable')).toMatchObject([
      { code: 'ERR_TOKEN_PENDING', waitsFor: 'token_endpoint', startedAt, count: 1 },
    ]);
    release();
    await token(auth);
    expect(endpoint.requests).toHaveLength(1);
  });

  test('another process, and from ten seconds on when this one asks itself', async () => {
    const { client, clock, endpoint } = createBed();
    endpoint.next(silent);
    const startedAt = clock.now();
    client({ instance: 'replica-1' })
      .getToken()
      .catch(() => {});
    await clock.advance(2 * second);
    const other = client({ instance: 'replica-2' });
    const asksAt = startedAt + minute;
    const words = `another process, replica-1, has been asking since ${new Date(startedAt).toISOString()}`;
    const early = await failure('ERR_TOKEN_PENDING', clock.until(other.getToken({ maxWaitMs: 3 * second })));
    expect(early).toMatchObject({
      message: message(`${words} (5.0 s). If it died, this one asks at ${new Date(asksAt).toISOString()}.`),
      waitsFor: 'process',
      process: 'replica-1',
      startedAt,
      retryAt: undefined,
    });
    const late = await failure('ERR_TOKEN_PENDING', clock.until(other.getToken({ maxWaitMs: 10 * second })));
    expect(late).toMatchObject({ message: message(words), waitsFor: 'process', startedAt, retryAt: asksAt });
  });

  test('a store that is down at the start', async () => {
    const { client, clock, store, endpoint } = createBed();
    store.always('both', hangs);
    const error = await failure('ERR_TOKEN_PENDING', clock.until(client().getToken({ maxWaitMs: 1_500 })));
    expect(error).toMatchObject({ message: message('the store has not answered for 1.5 s'), waitsFor: 'store' });
    expect(endpoint.requests).toHaveLength(0);
  });

  test('the store that does not keep the outcome, and not the endpoint that answered', async () => {
    const { client, clock, store, endpoint } = createBed();
    endpoint.next((request) => {
      store.always('both', hangs);
      return endpoint.issue(request);
    });
    const error = await failure('ERR_TOKEN_PENDING', clock.until(client().getToken({ maxWaitMs: second })));
    expect(error).toMatchObject({ waitsFor: 'store' });
  });

  test('the function for the secret', async () => {
    const { client, clock } = createBed();
    const auth = client({ clientSecret: () => new Promise(() => {}) });
    const error = await failure('ERR_TOKEN_PENDING', clock.until(auth.getToken({ maxWaitMs: second })));
    expect(error).toMatchObject({ waitsFor: 'client_secret', message: message('the function for clientSecret') });
  });

  test('the token endpoint, while 256 other requests of the process are under way', async () => {
    const { client, clock, endpoint, store } = createBed();
    endpoint.otherwise(silent);
    const shared = ofProcess(store);
    const begin = (audience: string) =>
      client({ store: shared, audience, issuanceLimit: 'unlimited' }).getToken({ maxWaitMs: second });
    const names = Array.from({ length: 256 }, (_, index) => `audience ${index}`);
    const others = Promise.allSettled(names.map(begin));
    const last = failure('ERR_TOKEN_PENDING', begin('another audience'));
    await clock.advance(2 * second);
    await others;
    expect(endpoint.requests).toHaveLength(256);
    expect(await last).toMatchObject({ waitsFor: 'token_endpoint' });
  });
});

describe('maxWaitMs', () => {
  test('ends the wait of one caller alone, and leaves no timer', async () => {
    const { client, clock, endpoint } = createBed();
    const { answer, release } = gated(endpoint.issue);
    endpoint.next(answer);
    const auth = client();
    const patient = auth.getToken();
    await failure('ERR_TOKEN_PENDING', clock.until(auth.getToken({ maxWaitMs: 0 })));
    const another = auth.getToken({ maxWaitMs: minute });
    const infinite = auth.getToken({ maxWaitMs: Number.POSITIVE_INFINITY });
    release();
    const token = await clock.until(patient);
    expect(await another).toBe(token);
    expect(await infinite).toBe(token);
    expect(clock.timers.all).toBe(0);
  });

  test('gives way to the reason of the caller’s signal', async () => {
    const { client, endpoint } = createBed();
    endpoint.next(silent);
    const controller = new AbortController();
    const waiting = client().getToken({ signal: controller.signal, maxWaitMs: minute });
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });

  test('ends the wait that minLifeMs causes with the present token', async () => {
    const { client, clock, endpoint, token, eventsOf } = createBed();
    const auth = client();
    const first = await token(auth);
    await clock.advance(2 * hour);
    endpoint.otherwise(silent);
    const before = clock.now();
    expect(await clock.until(auth.getToken({ minLifeMs: 23 * hour, maxWaitMs: second }))).toEqual(first);
    expect(clock.now()).toBeLessThan(before + 3 * second);
    expect(eventsOf('token_unavailable')).toEqual([]);
  });

  test.each([Number.NaN, '500', null])('%s is refused', async (maxWaitMs) => {
    const { client } = createBed();
    const error = await failure('ERR_CONFIG', client().getToken({ maxWaitMs: maxWaitMs as never }));
    expect(error.problems).toEqual([{ option: 'maxWaitMs', message: 'must be a number of milliseconds' }]);
  });
});

describe('a caller whose own signal ends its wait', () => {
  test('gets the reason, and an event says what it waited for, once a minute for each cause', async () => {
    const { client, clock, endpoint, store, eventsOf } = createBed();
    endpoint.otherwise(silent);
    const auth = client();
    const startedAt = clock.now();
    const abortAfter = async (ms: number, reason: unknown) => {
      const controller = new AbortController();
      const waiting = auth.getToken({ signal: controller.signal });
      const outcome = expect(waiting).rejects.toBe(reason);
      await clock.advance(ms);
      controller.abort(reason);
      await outcome;
    };
    // `AbortSignal.timeout()` has such a reason; other clients abort without one.
    const timeOut = new DOMException('The operation was aborted due to timeout', 'TimeoutError');
    await abortAfter(300, timeOut);
    const pending = { code: 'ERR_TOKEN_PENDING', waitsFor: 'token_endpoint', startedAt };
    expect(eventsOf('token_unavailable')).toMatchObject([{ ...pending, count: 1 }]);
    await abortAfter(0, new Error('a timer of the application'));
    await abortAfter(second, new Error('a timer of the application'));
    expect(eventsOf('token_unavailable')).toHaveLength(1);
    await clock.advance(minute);
    store.always('both', hangs);
    await abortAfter(second, timeOut);
    expect(eventsOf('token_unavailable').at(-1)).toMatchObject({ code: 'ERR_TOKEN_PENDING', waitsFor: 'store' });
  });
});
