import { describe, expect, test } from 'vitest';
import type { Store } from '../src/contract/store.ts';
import { createBed, day, failure, hour, minute, second } from './support/bed.ts';
import { fails, losesReply } from './support/faulty-store.ts';
import { settled } from './support/manual-clock.ts';
import { answering, failing, gated } from './support/scripted-endpoint.ts';

describe('a wall clock that is set', () => {
  test.each([
    ['10 years ahead', 3_650 * day],
    ['10 years back', -3_650 * day],
    ['an hour ahead', hour],
    ['an hour back', -hour],
  ])('%s changes nothing: one token, its renewal, its expiry', async (_, ms) => {
    const { client, clock, endpoint, token, use } = createBed();
    const auth = client();
    const first = await token(auth);
    await use(auth, minute);
    clock.step(ms);
    const { id } = first;
    expect(await use(auth, minute)).toMatchObject([{ id }]);
    await clock.advance(0.8 * day - 5 * minute);
    expect(await use(auth, 2 * minute)).toMatchObject([{ id }]);
    expect(endpoint.requests.length).toBe(1);
    await clock.advance(0.1 * day);
    const renewed = (await use(auth, minute)).at(-1);
    expect(renewed?.id).not.toBe(first.id);
    clock.step(-ms);
    expect(await use(auth, minute)).toMatchObject([{ id: renewed?.id }]);
    expect(endpoint.requests.length).toBe(2);
  });

  test('while a request is under way does not shorten or lengthen the life of its token', async () => {
    const { client, clock, endpoint, token } = createBed();
    const auth = client();
    endpoint.next((request) => {
      clock.step(-3_650 * day);
      return endpoint.issue(request);
    });
    const first = await token(auth);
    await clock.advance(0.79 * day);
    expect((await token(auth)).id).toBe(first.id);
    expect(endpoint.requests.length).toBe(1);
  });

  test('while a pause is on does not end the pause', async () => {
    const { client, clock, endpoint } = createBed();
    endpoint.next(failing('ECONNREFUSED'), answering(401));
    const auth = client();
    await failure('ERR_TOKEN_ENDPOINT', auth.getToken());
    clock.step(3_650 * day);
    const error = await failure('ERR_TOKEN_ENDPOINT', auth.getToken());
    expect(error.retryAt).toBe(clock.now() + second);
    expect(endpoint.requests.length).toBe(1);
  });

  test('back by less than half a minute does not let a token outlive its margin by more', async () => {
    const { client, clock, token } = createBed();
    const auth = client();
    const first = await token(auth);
    await clock.advance(day - minute - 5 * second);
    await auth.getToken();
    await clock.advance(4 * second);
    clock.step(-4 * second);
    await clock.advance(5 * second);
    expect(auth.peekToken()).not.toBe(first);
  });

  test('back into a moment of trust that has ended does not bring back a token that ended as well', async () => {
    const { client, clock, endpoint, token } = createBed();
    const auth = client();
    const first = await token(auth);
    endpoint.otherwise(failing('ECONNREFUSED'));
    await clock.advance(day - minute - 2 * second);
    // In a burst of calls most of them go by the wall clock alone.
    for (let call = 0; call < 300; call += 1) expect(await auth.getToken()).toBe(first);
    await clock.advance(10 * second);
    await failure('ERR_TOKEN_ENDPOINT', clock.until(auth.getToken()));
    clock.step(-10 * second);
    await failure('ERR_TOKEN_ENDPOINT', clock.until(auth.getToken()));
  });

  test('back does not show a token again that ended meanwhile', async () => {
    const { client, clock, endpoint, token } = createBed();
    const auth = client();
    const first = await token(auth);
    await clock.advance(day - minute - 3 * second);
    endpoint.next(failing('ECONNREFUSED'));
    await auth.getToken();
    await settled();
    expect(await token(auth)).toBe(first);
    await clock.advance(10 * second);
    expect(auth.peekToken()).toBeUndefined();
    clock.step(-10 * second);
    expect(auth.peekToken()).toBeUndefined();
  });
});

describe('a machine that sleeps while its monotonic clock stands still', () => {
  test('keeps the token that lives on, and reports the sleep once', async () => {
    const { client, clock, endpoint, token, use, eventsOf } = createBed();
    const auth = client();
    const first = await token(auth);
    clock.suspend(10 * hour);
    expect(await use(auth, 10 * minute)).toMatchObject([{ id: first.id }]);
    expect(endpoint.requests.length).toBe(1);
    expect(eventsOf('clock_anomaly')).toMatchObject([{ clock: 'machine', byMs: 10 * hour }]);
  });

  test('reports the sleep once, though the store does not answer either', async () => {
    const { client, clock, store, token, use, eventsOf } = createBed();
    const auth = client();
    await token(auth);
    clock.suspend(10 * hour);
    store.always('both', fails);
    await use(auth, 5 * minute);
    expect(eventsOf('clock_anomaly')).toHaveLength(1);
  });

  test.each([
    [minute, 0],
    [minute + 1, 1],
    [31 * day, 1],
    [31 * day + 1, 0],
  ])('or so it seems, for %i ms: reported %i times', async (ms, times) => {
    const { client, clock, token, use, eventsOf } = createBed();
    const auth = client();
    await token(auth);
    clock.suspend(ms);
    await use(auth, second);
    expect(eventsOf('clock_anomaly')).toHaveLength(times);
  });

  test.each(['process', 'durable'] as const)(
    'renews a token that expired meanwhile, once (%s store)',
    async (durability) => {
      const { client, clock, endpoint, token, use, store } = createBed(durability);
      const auth = client();
      const first = await token(auth);
      await clock.advance(15 * hour);
      expect(auth.peekToken() ?? (await token(auth))).toBe(first);
      clock.suspend(10 * hour);
      // A store elsewhere did not sleep.
      if (durability === 'durable') store.aheadMs += 10 * hour;
      expect(auth.peekToken()).toBeUndefined();
      const [next, ...others] = await use(auth, hour);
      expect(next?.id).not.toBe(first.id);
      expect([others.length, endpoint.requests.length]).toEqual([0, 2]);
    },
  );

  test('does not serve a token that expired during the sleep, although it slept within the trusted span', async () => {
    const { client, clock, token } = createBed('process');
    const auth = client();
    const first = await token(auth);
    await auth.getToken();
    expect(auth.peekToken()).toBe(first);
    clock.suspend(day);
    expect(auth.peekToken()).toBeUndefined();
  });

  test('does not serve a token of seconds that expired during a sleep of seconds', async () => {
    const { client, clock, endpoint, store, token } = createBed();
    endpoint.otherwise(endpoint.issueWith({ expires_in: 4 }));
    const auth = client();
    const first = await token(auth);
    clock.suspend(4 * second);
    store.aheadMs += 4 * second;
    expect(auth.peekToken()).toBeUndefined();
    expect((await token(auth)).id).not.toBe(first.id);
  });

  test('follows the view of the store after a read', async () => {
    const { client, clock, store, endpoint, token, use } = createBed();
    const auth = client();
    const first = await token(auth);
    clock.suspend(12 * hour);
    store.aheadMs += 12 * hour;
    expect(await use(auth, minute)).toEqual([first]);
    await clock.advance(7 * hour);
    expect(await use(auth, minute)).toEqual([first]);
    expect(endpoint.requests.length).toBe(1);
    await clock.advance(3 * hour);
    expect((await use(auth, minute)).at(-1)).not.toBe(first);
    expect(endpoint.requests.length).toBe(2);
  });

  test('during a read causes another read, because the age of the answer is unknown', async () => {
    const { client, clock, store, token } = createBed();
    await token(client());
    const auth = client();
    const before = store.calls.load;
    store.next('load', async (call) => {
      const answer = await call();
      clock.suspend(12 * hour);
      store.aheadMs += 12 * hour;
      return answer;
    });
    const adopted = await token(auth);
    expect(adopted.expiresAt).toBe(clock.now() + 12 * hour);
    expect(store.calls.load - before).toBe(2);
  });

  test.each([
    [minute / 2, 1],
    [minute / 2 + 1, 2],
  ])('for %i ms during a read: the store is read %i times', async (ms, times) => {
    const { client, clock, store } = createBed();
    store.next('load', async (call) => {
      const answer = await call();
      clock.suspend(ms);
      return answer;
    });
    await client().getUsage();
    expect(store.calls.load).toBe(times);
  });

  test('does not send a request that it was allowed before it slept', async () => {
    const { client, clock, endpoint, store } = createBed();
    let slept = false;
    store.next('swap', async (call) => {
      const result = await call();
      clock.suspend(3 * hour);
      slept = true;
      return result;
    });
    const auth = client();
    endpoint.otherwise((request) => {
      expect(slept).toBe(true);
      return endpoint.issue(request);
    });
    await clock.until(auth.getToken());
    // Once to ask, once to withdraw, once to ask again.
    expect(store.calls.load).toBe(3);
    // The first reservation was withdrawn at no cost.
    const usage = await auth.getUsage();
    expect([usage.used, endpoint.requests.length]).toEqual([1, 1]);
    expect(usage.issuances).toMatchObject([{ reason: 'cold', instance: 'process 1', audience: 'orders' }]);
  });

  test.each([
    ['sends what it reserved up to ten seconds ago', 10 * second, 2],
    ['withdraws what it reserved longer ago, and reserves anew', 10 * second + 1, 4],
  ])('%s', async (_, sleepMs, swaps) => {
    const { client, clock, endpoint, store } = createBed();
    store.next('swap', async (call) => {
      const result = await call();
      clock.suspend(sleepMs);
      return result;
    });
    await clock.until(client().getToken());
    expect([store.calls.swap, endpoint.requests.length]).toEqual([swaps, 1]);
  });

  test('adds its sleep to what passed by the clock of the store', async () => {
    const { client, clock, endpoint, store } = createBed();
    store.next('swap', losesReply);
    store.next(
      'load',
      (call) => call(),
      async (call) => {
        store.aheadMs += 6 * second;
        const result = await call();
        clock.suspend(5 * second);
        return result;
      },
    );
    await clock.until(client().getToken());
    expect([store.calls.swap, endpoint.requests.length]).toEqual([4, 1]);
  });

  test('withdraws a reservation that it heard of too late, and asks anew', async () => {
    const { client, clock, endpoint, store, token } = createBed();
    const auth = client();
    store.next('swap', async (call) => {
      await call();
      store.aheadMs += hour;
      throw new Error('reply lost');
    });
    const first = await token(auth);
    const usage = await auth.getUsage();
    expect([usage.used, endpoint.requests.length]).toEqual([1, 1]);
    expect(clock.now() - (usage.issuances[0]?.at ?? 0)).toBeLessThan(minute);
    expect((await token(client())).value).toBe(first.value);
  });

  test('withdraws a reservation that it heard of too late although the clock of the store was set back meanwhile', async () => {
    const { client, clock, endpoint, store } = createBed();
    store.next('swap', async (call) => {
      await call();
      clock.suspend(minute);
      store.aheadMs -= minute;
      throw new Error('reply lost');
    });
    await clock.until(client().getToken());
    expect([store.calls.swap, endpoint.requests.length]).toEqual([4, 1]);
  });
});

describe('the clock of a shared store', () => {
  test('hours away from ours changes nothing', async () => {
    for (const aheadMs of [-300 * day, 300 * day]) {
      const { client, clock, endpoint, token, store } = createBed();
      store.aheadMs = aheadMs;
      const auth = client();
      const first = await token(auth);
      expect(first.expiresAt).toBe(clock.now() + day);
      const other = await token(client());
      expect(other).toMatchObject({ id: first.id, expiresAt: first.expiresAt });
      await clock.advance(day - minute - 1);
      endpoint.otherwise(answering(401));
      expect((await token(auth)).value).toBe(first.value);
      await clock.advance(1);
      expect(auth.peekToken()).toBeUndefined();
    }
  });

  test.each([2 * hour, 26 * hour])('that leaps forward by %i ms while a process runs frees no budget', async (leap) => {
    const { client, clock, token, store, endpoint, eventsOf } = createBed();
    const issuanceLimit = { tokens: 10, reserve: 0 };
    await token(client({ issuanceLimit }));
    await clock.advance(60 * hour);
    const spend = async (audience: string) => {
      const auths = Array.from({ length: 7 }, (_, index) =>
        client({ issuanceLimit, audience: `${audience} ${index}` }),
      );
      for (const auth of auths) await clock.until(auth.getToken().catch(() => {}));
      return auths;
    };
    const before = endpoint.requests.length;
    const running = await spend('first');
    store.aheadMs += leap;
    await clock.until(Promise.all(running.map((auth) => auth.getUsage())));
    await spend('second');
    expect(endpoint.requests.length - before).toBe(10);
    expect(eventsOf('clock_anomaly')).toContainEqual(expect.objectContaining({ clock: 'store', byMs: leap }));
    store.aheadMs -= leap;
    await spend('third');
    expect(endpoint.requests.length - before).toBe(10);
    await clock.advance(26 * hour);
    await spend('fourth');
    expect(endpoint.requests.length - before).toBeGreaterThan(10);
  });

  test('that leaps forward while a token is on its way frees no budget', async () => {
    const { client, clock, token, store, endpoint } = createBed();
    const auth = client();
    const { answer, release } = gated(endpoint.issue);
    endpoint.next(answer);
    const first = token(auth);
    await settled();
    store.aheadMs += 26 * hour;
    release();
    await first;
    await clock.advance(minute);
    expect(await auth.getUsage()).toMatchObject({ used: 1 });
  });

  test('that goes back does not free budget, and is reported', async () => {
    const { client, clock, token, store, use, eventsOf } = createBed();
    const auth = client();
    await token(auth);
    store.aheadMs -= 2 * hour;
    await use(auth, minute);
    expect(eventsOf('clock_anomaly')).toMatchObject([{ clock: 'store', byMs: -2 * hour }]);
    await clock.advance(24 * hour);
    const { used } = await auth.getUsage();
    expect(used).toBe(1);
  });

  test.each([
    [10 * minute, []],
    [10 * minute + 1, [-10 * minute - 1]],
  ])('that goes back by %i ms: reported as %j', async (ms, reported) => {
    const { client, store, token, use, eventsOf } = createBed();
    const auth = client();
    await token(auth);
    store.aheadMs -= ms;
    await use(auth, minute);
    expect(eventsOf('clock_anomaly').map(({ byMs }) => byMs)).toEqual(reported);
  });

  test('that was days ahead and came back makes everything count from then on', async () => {
    const { client, token, store, eventsOf, endpoint, use } = createBed();
    store.aheadMs = 40 * day;
    const auth = client();
    const first = await token(auth);
    store.aheadMs = 0;
    expect(await use(auth, 2 * minute)).toEqual([first]);
    expect(eventsOf('clock_anomaly')).toMatchObject([{ clock: 'store' }]);
    expect(await auth.getUsage()).toMatchObject({ used: 1 });
    expect((await token(client())).value).toBe(first.value);
    expect(endpoint.requests.length).toBe(1);
    await settled();
  });
});

test('a store whose clock shows whole seconds does not let a token leave a window of seconds too early', async () => {
  const { client, clock, store, token } = createBed();
  const shown = (behindMs: number): Store => ({
    ...store,
    load: async (...read) => {
      const answer = await store.load(...read);
      return { ...answer, now: answer.now - behindMs };
    },
    swap: async (...change) => {
      const answer = await store.swap(...change);
      return { ...answer, now: answer.now - behindMs };
    },
  });
  const issuanceLimit = { tokens: 10, windowMs: 5 * second, reserve: 0 };
  await token(client({ store: shown(999), issuanceLimit }));
  await clock.advance(4_900);
  expect(await clock.until(client({ store: shown(0), issuanceLimit }).getUsage())).toMatchObject({ used: 1 });
});
