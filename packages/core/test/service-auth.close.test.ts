import { describe, expect, test } from 'vitest';
import { createBed, failure, minute, second } from './support/bed.ts';
import { hangs } from './support/faulty-store.ts';
import { createManualClock, settled } from './support/manual-clock.ts';
import { gated, silent } from './support/scripted-endpoint.ts';

describe('close', () => {
  test('of an idle client is done at once; afterwards nothing works', async () => {
    const { client, clock, store, token } = createBed();
    const auth = client();
    await token(auth);
    expect(auth.peekToken()).toBeDefined();
    await auth.close();
    const calls = { ...store.calls };
    expect(auth.peekToken()).toBeUndefined();
    await failure('ERR_CLOSED', auth.getToken());
    await failure('ERR_CLOSED', auth.reset());
    await failure('ERR_CLOSED', auth.getUsage());
    expect([store.calls, clock.timers.all]).toEqual([calls, 0]);
    expect(auth.covers('https://api.example.com/')).toBe(true);
  });

  test('before the first token, and again, is harmless', async () => {
    const { client } = createBed();
    const auth = client();
    await Promise.all([auth.close(), auth.close()]);
    await auth.close();
  });

  test('ends all waits, and gives a request under way the time to be recorded', async () => {
    const { client, endpoint } = createBed();
    const { answer, release } = gated(endpoint.issue);
    endpoint.next(answer);
    const auth = client();
    const waiting = Promise.all(
      [auth.getToken(), auth.getToken({ signal: new AbortController().signal })].map((each) =>
        failure('ERR_CLOSED', each),
      ),
    );
    await settled();
    const closing = auth.close();
    await waiting;
    let closed = false;
    void closing.then(() => {
      closed = true;
    });
    await settled();
    expect(closed).toBe(false);
    release();
    await closing;
    expect(await client().getUsage()).toMatchObject({ used: 1, pending: 0 });
    expect(auth.peekToken()).toBeUndefined();
    await failure('ERR_CLOSED', auth.getToken());
  });

  test('waits for two seconds at most', async () => {
    const { client, clock, endpoint, store } = createBed();
    endpoint.next(silent);
    const auth = client();
    const waiting = failure('ERR_CLOSED', auth.getToken());
    await settled();
    let closed = false;
    const closing = auth.close().then(() => {
      closed = true;
    });
    await clock.advance(2 * second - 1);
    expect(closed).toBe(false);
    await clock.advance(1);
    await closing;
    await waiting;
    store.always('both', hangs);
    await clock.advance(5 * minute);
    expect(clock.timers.all).toBe(0);
  });

  test('leaves nothing that keeps the process running, while the store hangs and while the endpoint does', async () => {
    for (const hanging of ['store', 'endpoint']) {
      const { client, clock, endpoint, store, token } = createBed();
      const auth = client();
      const keptAlive = () => clock.timers.all - clock.timers.background;
      await token(auth);
      if (hanging === 'store') store.always('both', hangs);
      else endpoint.otherwise(silent);
      const calls = [client({ audience: 'other' }), auth].map((each) => {
        void each.getToken({ minLifeMs: 86_000_000 }).catch(() => {});
        void each.reset().catch(() => {});
        return each;
      });
      await settled();
      expect(keptAlive()).toBeGreaterThan(0);
      const closing = Promise.all(calls.map((each) => each.close()));
      await clock.advance(2 * second);
      await closing;
      expect([hanging, keptAlive()]).toEqual([hanging, 0]);
    }
  });

  test('aborts a token request that has no answer after two seconds, and the token counts', async () => {
    const { client, clock } = createBed();
    const sent: AbortSignal[] = [];
    const auth = client({
      transport: ({ signal }) =>
        new Promise((_, reject) => {
          sent.push(signal);
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
    });
    auth.getToken().catch(() => {});
    await settled();
    const closing = auth.close();
    await clock.advance(2 * second - 1);
    expect(sent.map(({ aborted }) => aborted)).toEqual([false]);
    await clock.advance(1);
    await closing;
    expect(sent.map(({ aborted }) => aborted)).toEqual([true]);
    await settled();
    expect(await client().getUsage()).toMatchObject({ used: 1, pending: 1 });
    expect(clock.timers.all).toBe(0);
  });

  test('sends no request that the store confirms after that', async () => {
    const { client, clock, endpoint, store } = createBed();
    store.next('swap', hangs);
    const auth = client();
    auth.getToken().catch(() => {});
    await settled();
    const closing = auth.close();
    await clock.advance(3 * second);
    await closing;
    expect(endpoint.requests).toEqual([]);
    expect((await client().getUsage()).used).toBe(0);
  });

  test('ends the wait for another process', async () => {
    const { client, clock, endpoint } = createBed();
    endpoint.otherwise(silent);
    client({ clock: createManualClock() })
      .getToken()
      .catch(() => {});
    await settled();
    const auth = client();
    const waiting = failure('ERR_CLOSED', auth.getToken());
    await clock.advance(10 * second);
    await auth.close();
    await waiting;
    expect(clock.timers.all).toBe(0);
  });

  test('by a listener that hears of a background read leaves the token to the call that started it', async () => {
    const { client, clock, token } = createBed();
    const auth = client();
    const first = await token(auth);
    await clock.advance(26 * second);
    let closing: Promise<void> | undefined;
    const close = () => {
      closing ??= auth.close();
    };
    auth.subscribe(({ type }) => type === 'acquisition_started' && close(), { operations: true });
    expect(await auth.getToken()).toBe(first);
    await closing;
    await failure('ERR_CLOSED', auth.getToken());
  });

  test('is what `await using` does', async () => {
    const { client, token } = createBed();
    const auth = client();
    await token(auth);
    // The stack is stricter than the syntax, which the test runner may rewrite.
    const stack = new AsyncDisposableStack();
    stack.use(auth);
    await stack.disposeAsync();
    await failure('ERR_CLOSED', auth.getToken());
  });
});
