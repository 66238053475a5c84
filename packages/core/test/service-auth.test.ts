import { describe, expect, test } from 'vitest';
import { createBed, failure, hour, minute, second } from './support/bed.ts';
import { settled } from './support/manual-clock.ts';
import { answering, failing, gated } from './support/scripted-endpoint.ts';

describe('createServiceAuth', () => {
  test('reads nothing, sends nothing and arms no timer before somebody asks for a token', async () => {
    const { client, clock, store, endpoint } = createBed();
    const auth = client();
    expect(auth.peekToken()).toBeUndefined();
    await clock.advance(hour);
    expect([store.calls.load, store.calls.swap, endpoint.requests.length, clock.timers.all]).toEqual([0, 0, 0, 0]);
  });

  test('may be allowed an API without TLS', () => {
    const auth = createBed().client({ allowInsecureHttp: true, baseUrl: 'http://api.internal' });
    expect(auth.covers('http://api.internal/orders')).toBe(true);
  });

  test('without a baseUrl gets tokens, and lets no adapter send them anywhere', async () => {
    const { client, token } = createBed();
    const auth = client({ baseUrl: undefined });
    await token(auth);
    expect(auth.covers('https://api.example.com/')).toBe(false);
  });
});

describe('peekToken', () => {
  test.each(['process', 'durable'] as const)(
    'shows a token that was revalidated recently (%s store)',
    async (durability) => {
      const { client, clock, token } = createBed(durability);
      const auth = client();
      const first = await token(auth);
      await clock.advance(28 * second);
      expect(auth.peekToken()).toBe(first);
      await clock.advance(1);
      // No other process writes to a store of this process.
      expect(auth.peekToken()).toBe(durability === 'process' ? first : undefined);
    },
  );
});

describe('without a store', () => {
  test('tokens are counted by the clock that was given', async () => {
    const { client, clock, token } = createBed();
    const auth = client({ store: undefined });
    await token(auth);
    expect(await auth.getUsage()).toMatchObject({ used: 1 });
    await clock.advance(72 * hour);
    expect(await auth.getUsage()).toMatchObject({ used: 0 });
  });
});

describe('getToken', () => {
  test('gives everybody the same settled promise, without reading anything or arming a timer', async () => {
    const { client, clock, store, endpoint, token } = createBed();
    const auth = client();
    const first = await token(auth);
    const calls = { ...store.calls };
    const promises = Array.from({ length: 100 }, () => auth.getToken());
    expect(new Set(promises).size).toBe(1);
    expect(await promises[0]).toBe(first);
    expect(auth.peekToken()).toBe(first);
    expect(auth.getToken({ signal: new AbortController().signal })).toBe(promises[0]);
    expect([store.calls, endpoint.requests.length, clock.timers.all]).toEqual([calls, 1, 0]);
  });

  test('says when the token was requested and when it expires, and names it as the ledger does', async () => {
    const { client, clock, endpoint, events } = createBed();
    const { answer, release } = gated(endpoint.issue);
    endpoint.next(answer);
    const auth = client();
    const requestedAt = clock.now();
    const promise = auth.getToken();
    await clock.advance(10 * second);
    release();
    const token = await promise;
    expect(token).toMatchObject({ issuedAt: requestedAt, expiresAt: requestedAt + 24 * hour });
    expect((await auth.getUsage()).issuances).toMatchObject([{ id: token.id, pending: false }]);
    expect(events).toMatchObject([{ type: 'token_issued', tokenId: token.id, reason: 'cold', used: 1, usable: 120 }]);
  });

  test('sends one request for 10,000 callers', async () => {
    const { client, clock, endpoint } = createBed();
    const auth = client();
    const tokens = await clock.until(Promise.all(Array.from({ length: 10_000 }, () => auth.getToken())));
    expect(new Set(tokens).size).toBe(1);
    expect([endpoint.requests.length, clock.timers.all]).toEqual([1, 0]);
  });

  test('shares a failure among those who wait for it, and asks again for those who come later', async () => {
    const { client, clock, endpoint } = createBed();
    endpoint.next(failing('ECONNREFUSED'));
    const auth = client();
    const errors = await clock.until(
      Promise.all(Array.from({ length: 100 }, () => failure('ERR_TOKEN_ENDPOINT', auth.getToken()))),
    );
    expect(new Set(errors).size).toBe(1);
    expect(endpoint.requests.length).toBe(1);
    await clock.advance(second);
    expect((await auth.getToken()).value).toBeTruthy();
    expect([endpoint.requests.length, clock.timers.all]).toEqual([2, 0]);
  });

  test('fails fast while the endpoint is to be left alone', async () => {
    const { client, endpoint, clock, eventsOf } = createBed();
    endpoint.next(answering(503));
    const auth = client();
    const first = await failure('ERR_TOKEN_ENDPOINT', auth.getToken());
    expect(first).toMatchObject({ endpointStatus: 503, ambiguous: true, retryAt: clock.now() + second });
    const again = await failure('ERR_TOKEN_ENDPOINT', auth.getToken());
    expect(again).toMatchObject({ endpointStatus: 503, ambiguous: true, retryAt: clock.now() + second });
    expect(endpoint.requests.length).toBe(1);
    // That would be for the budget alone.
    expect(eventsOf('issuance_refused')).toEqual([]);
  });

  test('fails as soon as the request has, without reading the record again', async () => {
    const { client, clock, store, endpoint, token } = createBed();
    endpoint.next(answering(503), endpoint.issueWith({ expires_in: 600 }), answering(503));
    const auth = client();
    await failure('ERR_TOKEN_ENDPOINT', auth.getToken());
    expect(store.calls.load).toBe(1);
    await clock.advance(minute);
    await token(auth);
    const before = store.calls.load;
    await clock.advance(hour);
    await failure('ERR_TOKEN_ENDPOINT', auth.getToken());
    expect(store.calls.load - before).toBe(1);
  });
});

describe('abort', () => {
  test('of one caller rejects that caller alone, with its own reason', async () => {
    const { client, endpoint } = createBed();
    const { answer, release } = gated(endpoint.issue);
    endpoint.next(answer);
    const auth = client();
    const controller = new AbortController();
    const aborting = auth.getToken({ signal: controller.signal });
    const waiting = auth.getToken({ signal: new AbortController().signal });
    const careless = auth.getToken();
    await settled();
    const reason = new Error('changed my mind');
    controller.abort(reason);
    await expect(aborting).rejects.toBe(reason);
    release();
    expect(await waiting).toBe(await careless);
    expect(endpoint.requests.length).toBe(1);
  });

  test('of the caller that started the request does not end the request', async () => {
    const { client, endpoint, token } = createBed();
    const { answer, release } = gated(endpoint.issue);
    endpoint.next(answer);
    const auth = client();
    const controller = new AbortController();
    const first = auth.getToken({ signal: controller.signal });
    await settled();
    controller.abort();
    await expect(first).rejects.toMatchObject({ name: 'AbortError' });
    expect(endpoint.requests[0]?.signal.aborted).toBe(false);
    release();
    await token(auth);
    expect(endpoint.issued).toBe(1);
  });

  test('that has been already rejects at once and starts nothing, even with a token in memory', async () => {
    const { client, clock, endpoint, token, store } = createBed();
    const auth = client();
    const signal = AbortSignal.abort('too late');
    await expect(auth.getToken({ signal })).rejects.toBe('too late');
    await clock.advance(minute);
    expect([endpoint.requests.length, store.calls.load]).toEqual([0, 0]);
    await token(auth);
    await expect(auth.getToken({ signal })).rejects.toBe('too late');
  });

  test('leaves no listener behind, in either order', async () => {
    const { client, clock, endpoint } = createBed();
    const auth = client();
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    Object.assign(signal, {
      addEventListener: (...parameters: Parameters<typeof add>) => {
        listeners += 1;
        add(...parameters);
      },
      removeEventListener: (...parameters: Parameters<typeof remove>) => {
        listeners -= 1;
        remove(...parameters);
      },
    });
    endpoint.next(answering(401));
    const attempts = Array.from({ length: 10 }, () => failure('ERR_CREDENTIALS_REJECTED', auth.getToken({ signal })));
    expect(listeners).toBe(10);
    await clock.until(Promise.all(attempts));
    await settled();
    expect(listeners).toBe(0);
  });
});
