import { describe, expect, test } from 'vitest';
import type { Store } from '../src/index.ts';
import { createBed, day, failure, hour, minute, ofProcess, second } from './support/bed.ts';
import { answersAfter, duplicates, fails, hangs, hangsAfterwards, losesReply } from './support/faulty-store.ts';
import { settled } from './support/manual-clock.ts';
import { failing, gated } from './support/scripted-endpoint.ts';

describe('a store that is down', () => {
  test('sends nothing uncounted: without a token in memory it is an error', async () => {
    const { client, clock, store, endpoint } = createBed();
    store.always('both', fails);
    const error = await failure('ERR_STORE', client().getToken());
    expect(error.retryAt).toBe(clock.now() + second);
    expect(error.message).toContain('ECONNRESET');
    expect([endpoint.requests.length, clock.timers.all]).toEqual([0, 0]);
  });

  test('leaves the token in memory to be served to its end, and then it is an error', async () => {
    const { client, clock, store, endpoint, token, use, eventsOf } = createBed();
    const auth = client();
    const first = await token(auth);
    store.always('both', fails);
    expect(await use(auth, day - 2 * minute, 10 * minute)).toEqual([first]);
    await clock.advance(2 * minute);
    await failure('ERR_STORE', clock.until(auth.getToken()));
    expect(endpoint.requests.length).toBe(1);
    expect(eventsOf('store_failed')[0]).toMatchObject({ operation: 'load', error: 'Error ECONNRESET' });
  });

  test('says what to do in the words of the store, if it has any, and in no others', async () => {
    const { client, store, eventsOf } = createBed();
    const auth = client();
    store.always('both', () => Promise.reject(Object.assign(new Error('password'), { advice: 'mount it.' })));
    const { message } = await failure('ERR_STORE', auth.getToken());
    expect(message).toMatch(
      /\(Error\).* Check the store and try again: mount it\. The next attempt is possible at 2026-\S+Z\. See \S+#err_store$/,
    );
    expect(eventsOf('store_failed')).toMatchObject([{ error: 'Error', advice: 'mount it.' }]);
    store.always('both', () => Promise.reject(Object.assign(new Error('password'), { advice: ['no text'] })));
    expect((await failure('ERR_STORE', auth.getToken())).message).toMatch(
      /Check the store and try again\. The next attempt is possible at 2026-\S+Z\. See \S+#err_store$/,
    );
  });

  test('is read again every 5 seconds while the client is in use, and reported when it answers again', async () => {
    const { client, store, token, use, eventsOf } = createBed();
    const auth = client();
    await token(auth);
    store.always('both', fails);
    const before = store.calls.load;
    await use(auth, 2 * minute, second);
    expect(store.calls.load - before).toBeGreaterThanOrEqual(18);
    expect(store.calls.load - before).toBeLessThanOrEqual(20);
    expect(eventsOf('store_recovered')).toEqual([]);
    store.always('both');
    await use(auth, minute, second);
    expect(eventsOf('store_recovered')).toHaveLength(1);
  });

  test('for writes alone is reported as failed once a minute, and as recovered when a write succeeds', async () => {
    const { client, clock, store, eventsOf } = createBed();
    const auth = client();
    store.always('swap', fails);
    for (let call = 0; call < 90; call += 1) {
      await failure('ERR_STORE', clock.until(auth.getToken()));
      await auth.getUsage();
      await clock.advance(second);
    }
    expect(eventsOf('store_failed').map(({ operation }) => operation)).toEqual(['swap', 'swap']);
    expect(eventsOf('store_recovered')).toEqual([]);
    // An outage ends with the first read, whatever could not be written before.
    store.always('both', fails);
    await failure('ERR_STORE', clock.until(auth.getUsage()));
    store.always('both');
    await auth.getUsage();
    expect(eventsOf('store_recovered')).toHaveLength(1);
    store.always('swap', fails);
    await failure('ERR_STORE', clock.until(auth.getToken()));
    store.always('swap');
    await clock.until(auth.getToken());
    expect(eventsOf('store_recovered')).toHaveLength(2);
  });

  test('for one call is read again at once, and no caller notices', async () => {
    const { client, store, endpoint, eventsOf } = createBed();
    store.next('load', fails);
    await client().getToken();
    expect([store.calls.load, endpoint.requests.length, eventsOf('store_failed').length]).toEqual([2, 1, 0]);
  });

  test('lets a token that has arrived be used, and is told of it as soon as it answers', async () => {
    const { client, clock, store, endpoint } = createBed();
    const auth = client();
    endpoint.next((request) => {
      store.always('both', fails);
      return endpoint.issue(request);
    });
    const token = await clock.until(auth.getToken());
    store.always('both');
    await clock.advance(second);
    expect((await auth.getUsage()).issuances).toMatchObject([{ id: token.id, pending: false }]);
    expect((await clock.until(client().getToken())).value).toBe(token.value);
    expect([endpoint.requests.length, clock.timers.all]).toEqual([1, 0]);
  });

  test('is told of an outcome for two minutes, in the background, and by the next request at the latest', async () => {
    const { client, clock, store, endpoint } = createBed();
    const auth = client();
    endpoint.next((request) => {
      store.always('both', fails);
      return failing('ECONNREFUSED')(request);
    });
    await failure('ERR_TOKEN_ENDPOINT', clock.until(auth.getToken()));
    expect(clock.timers).toEqual({ all: 1, background: 1 });
    const { load, swap } = store.calls;
    await clock.advance(128 * second);
    // Within a minute five attempts swap before they read the record. All seven read it, twice each.
    expect([store.calls.swap - swap, store.calls.load - load, clock.timers.all]).toEqual([5, 7 * 2, 0]);
    store.always('both');
    expect(await auth.getUsage()).toMatchObject({ used: 1, pending: 1 });
    // The pause counts from the request, which was two minutes ago.
    await clock.until(auth.getToken());
    expect(await auth.getUsage()).toMatchObject({ used: 1, pending: 0 });
    expect(endpoint.requests.length).toBe(2);
  });
});

describe('the outcome of a request', () => {
  test.each([
    [minute - 1, 0],
    [minute, 1],
  ])(
    'of %i ms, and the token it brought, lead to reading the record %i times: after a minute to enter it as well',
    async (ms, times) => {
      const { client, clock, store, endpoint } = createBed();
      const { answer, release } = gated(endpoint.issue);
      endpoint.next(answer);
      const waiting = client({ timeoutMs: 2 * minute }).getToken();
      await clock.advance(ms);
      const before = store.calls.load;
      release();
      await waiting;
      expect(store.calls.load - before).toBe(times);
    },
  );
});

describe('a store that can be read, but not written', () => {
  test('now and then: a swap that failed is tried again, each time', async () => {
    const { client, clock, store, endpoint, token } = createBed();
    const auth = client();
    await token(auth);
    for (let round = 1; round <= 3; round++) {
      const before = store.calls.swap;
      store.next('swap', fails);
      await clock.until(auth.reset());
      // The one that failed, and the one that did not.
      expect(store.calls.swap - before).toBe(2);
      await token(auth);
      expect(endpoint.issued).toBe(1 + round);
    }
  });

  test('now and then: a swap that failed is tried again, although a declaration of the limit failed before', async () => {
    const { client, clock, store, endpoint, token } = createBed();
    const process = { store: ofProcess(store) };
    const auth = client(process);
    await token(auth);
    store.next('swap', fails);
    const before = store.calls.swap;
    await clock.advance(25 * minute);
    await token(auth);
    await settled();
    expect(store.calls.swap - before).toBe(1);
    store.next('swap', fails);
    await token(client({ ...process, audience: 'invoices' }));
    expect(endpoint.issued).toBe(2);
  });

  test('is an error without a token in memory, and nothing is sent', async () => {
    const { client, clock, store, endpoint } = createBed();
    store.always('swap', fails);
    const error = await failure('ERR_STORE', clock.until(client().getToken()));
    expect(error.message).toContain('could not be written');
    expect([endpoint.requests.length, store.calls.swap]).toEqual([0, 2]);
  });

  test('still gives the token that the fleet has', async () => {
    const { client, store, endpoint, token } = createBed();
    const first = await token(client());
    store.always('swap', fails);
    expect((await token(client())).value).toBe(first.value);
    expect(endpoint.requests.length).toBe(1);
  });

  test('is an error for reset, but this process has dropped the token', async () => {
    const { client, clock, store, token } = createBed();
    const auth = client();
    const first = await token(auth);
    store.always('swap', fails);
    await failure('ERR_STORE', clock.until(auth.reset()));
    expect(auth.peekToken()).toBeUndefined();
    store.always('swap');
    expect((await token(auth)).value).not.toBe(first.value);
  });
});

describe('a store that does not answer', () => {
  test('is asked twice, given up after two and eight seconds, and told so by its signal', async () => {
    const { client, clock, store, endpoint, eventsOf } = createBed();
    const signals: AbortSignal[] = [];
    const auth = client({
      store: {
        ...store,
        load: (_, options) => {
          if (options?.signal) signals.push(options.signal);
          return hangs(() => expect.fail());
        },
      },
    });
    const attempt = failure('ERR_STORE', auth.getToken());
    await clock.advance(2 * second - 1);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    await clock.advance(1);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    await clock.advance(8 * second - 1);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    await clock.advance(1);
    expect((await attempt).message).toContain('TimeoutError');
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
    expect(eventsOf('store_failed')).toHaveLength(1);
    expect([endpoint.requests.length, clock.timers.all]).toEqual([0, 0]);
  });

  test('is given up after two seconds twice by a process that it has answered', async () => {
    const { client, clock, store } = createBed();
    const auth = client();
    await auth.getUsage();
    store.always('both', hangs);
    const attempt = failure('ERR_STORE', auth.getToken());
    await clock.advance(4 * second - 1);
    expect(await Promise.race([attempt, Promise.resolve('waits')])).toBe('waits');
    await clock.advance(1);
    expect((await attempt).message).toContain('TimeoutError');
  });

  test('has its own advice in the error and in the event', async () => {
    const { client, clock, store, eventsOf } = createBed();
    const adviceIfSilent = 'is there a way to the store?';
    const auth = client({ store: { ...store, adviceIfSilent } });
    store.always('both', hangs);
    const attempts = [failure('ERR_STORE', auth.getToken()), failure('ERR_STORE', auth.getUsage())];
    await clock.advance(10 * second);
    for (const { message } of await Promise.all(attempts)) {
      expect(message).toContain(`(TimeoutError). Check the store and try again: ${adviceIfSilent}`);
    }
    expect(eventsOf('store_failed')).toMatchObject([{ error: 'TimeoutError', advice: adviceIfSilent }]);
  });

  test('is waited for four times as long as its latest call took, and for eight seconds at most', async () => {
    const { client, clock, store, eventsOf } = createBed();
    const after =
      (delayMs: number) =>
      <Result>(call: () => Promise<Result>) =>
        new Promise<void>((resolve) => void clock.setTimer(resolve, delayMs)).then(call);
    const auth = client();
    const usageAfter = async (delayMs: number) => {
      store.next('load', after(delayMs));
      const reading = auth.getUsage().then(
        () => 'read',
        () => 'failed',
      );
      await clock.advance(delayMs);
      await clock.advance(8 * second);
      return reading;
    };
    expect(await usageAfter(1_900)).toBe('read');
    expect(await usageAfter(7_500)).toBe('read');
    expect(await usageAfter(7_900)).toBe('read');
    expect(eventsOf('store_failed')).toEqual([]);
    const begunAt = clock.monotonic();
    store.next('load', after(8_100), hangs);
    const reading = auth.getUsage();
    reading.catch(() => {});
    await clock.advance(10 * second);
    await failure('ERR_STORE', reading);
    // Both tries of the next call are short.
    store.next('load', hangs, hangs);
    await failure('ERR_STORE', clock.until(auth.getUsage()));
    expect(clock.monotonic() - begunAt).toBe(14 * second);
  });

  test('is not waited for so long that the request would be too late: the caller gets an error', async () => {
    const { client, clock, endpoint, store } = createBed();
    store.always('both', (call) => new Promise<void>((resolve) => void clock.setTimer(resolve, 2_600)).then(call));
    const auth = client({ timeoutMs: 5_000 });
    const begunAt = clock.monotonic();
    await failure('ERR_STORE', clock.until(auth.getToken()));
    expect(clock.monotonic() - begunAt).toBeLessThan(15 * second);
    expect(endpoint.requests).toEqual([]);
    // With more time for the request there is more time for the store.
    await clock.until(client({ timeoutMs: 10_000, audience: 'another' }).getToken());
    expect(endpoint.requests).toHaveLength(1);
  });

  test('is waited for by the time-out of who calls, and not of who called first', async () => {
    const { client, clock, endpoint, store } = createBed();
    store.always('both', (call) => new Promise<void>((resolve) => void clock.setTimer(resolve, 3_500)).then(call));
    await clock.until(client({ timeoutMs: 30_000, store, audience: 'patient' }).getToken());
    const begunAt = clock.monotonic();
    await failure('ERR_STORE', clock.until(client({ timeoutMs: 5_000, store }).getToken()));
    expect(clock.monotonic() - begunAt).toBeLessThan(15 * second);
    expect(endpoint.requests).toHaveLength(1);
  });

  test('never delays those who are in use, and others for two seconds at most', async () => {
    const { client, clock, store, token } = createBed();
    const auth = client();
    const first = await token(auth);
    store.always('both', hangs);
    for (let elapsed = 0; elapsed < 10 * minute; elapsed += second) {
      await clock.advance(second);
      expect(await auth.getToken()).toBe(first);
    }
    await clock.advance(hour);
    const promise = auth.getToken();
    await clock.advance(2 * second);
    expect(await promise).toBe(first);
  });
});

describe('a swap whose fate is unknown', () => {
  test.each([
    ['was executed, but reported as failed', losesReply],
    ['was executed, but never answered', hangsAfterwards],
    ['was executed twice', duplicates],
    ['was not executed', fails],
  ])('reserving, it %s: one request, one token', async (_, fault) => {
    const { client, clock, store, endpoint, eventsOf } = createBed();
    store.next('swap', fault);
    const auth = client();
    const token = await clock.until(auth.getToken());
    expect(endpoint.requests.length).toBe(1);
    expect(await auth.getUsage()).toMatchObject({ used: 1, pending: 0, issuances: [{ id: token.id }] });
    expect(eventsOf('ledger_lost')).toEqual([]);
  });

  test.each([
    ['was executed, but reported as failed', losesReply],
    ['was executed twice', duplicates],
    ['was not executed', fails],
  ])('settling, it %s: the token is known to the fleet, and renewed in time', async (_, fault) => {
    const { client, clock, store, endpoint, token, use } = createBed();
    const auth = client();
    await token(auth);
    const reserve = <Result>(call: () => Promise<Result>) => call();
    await clock.advance(0.9 * day);
    store.next('swap', reserve, fault);
    await use(auth, minute);
    expect(endpoint.requests.length).toBe(2);
    expect(await auth.getUsage()).toMatchObject({ used: 2, pending: 0 });
    await clock.advance(0.9 * day);
    await use(auth, minute);
    expect(endpoint.requests.length).toBe(3);
  });
});

describe('a record that is damaged', () => {
  test.each([
    ['a flipped bit', (text: string) => text.replace('"spent"', '"spemt"')],
    ['a torn write', (text: string) => text.slice(0, -20)],
    ['a later version', (text: string) => text.replace('service-auth/4', 'service-auth/5')],
    ['nonsense', () => 'nonsense'],
  ])('%s: is left as it is, nothing is sent, and the token in memory is served', async (_, damage) => {
    const { client, clock, store, endpoint, token, use } = createBed();
    const auth = client();
    const first = await token(auth);
    const damaged = damage((await store.text()) ?? '');
    await store.replace(damaged);
    const swaps = store.calls.swap;
    expect(await use(auth, hour, minute)).toEqual([first]);
    await failure('ERR_STORE_INTEGRITY', clock.until(client().getToken()));
    await failure('ERR_STORE_INTEGRITY', auth.getUsage());
    await failure('ERR_STORE_INTEGRITY', auth.reset());
    expect([await store.text(), store.calls.swap, endpoint.requests.length]).toEqual([damaged, swaps, 1]);
  });
});

describe('a record that was lost', () => {
  test('is repaired from memory at no cost, for the whole fleet', async () => {
    const { client, store, endpoint, token, use, eventsOf } = createBed();
    const [one, two] = [client(), client()];
    const first = await token(one);
    await token(two);
    await store.replace(undefined);
    expect(await use(one, minute)).toEqual([first]);
    expect(eventsOf('ledger_lost')).toMatchObject([{ restored: 1, instance: 'process 1' }]);
    expect((await use(two, minute)).map(({ value }) => value)).toEqual([first.value]);
    expect((await token(client())).value).toBe(first.value);
    expect(await one.getUsage()).toMatchObject({ used: 1, issuances: [{ id: first.id }] });
    expect(endpoint.requests.length).toBe(1);
    await use(one, minute);
    await use(two, minute);
    expect(eventsOf('ledger_lost').length).toBeLessThanOrEqual(2);
  });

  test('is read again when another process was ahead with repairing it, and otherwise once', async () => {
    const { client, clock, store, token } = createBed();
    const auth = client();
    await token(auth);
    const loadsOf = async (attempt: Promise<unknown>) => {
      const before = store.calls.load;
      await attempt;
      return store.calls.load - before;
    };
    await store.replace(undefined);
    store.next('swap', async () => ({ swapped: false, now: clock.now() }) as never);
    expect(await loadsOf(auth.getUsage())).toBe(2);
    await store.replace(undefined);
    expect(await loadsOf(auth.getUsage())).toBe(1);
  });

  test('is repaired when it went back to an older state', async () => {
    const { client, clock, store, endpoint, token, use, eventsOf } = createBed();
    const auth = client();
    await token(auth);
    const old = await store.text();
    await clock.advance(0.9 * day);
    await use(auth, minute);
    const renewed = await token(auth);
    await store.replace(old);
    await use(auth, minute);
    expect(eventsOf('ledger_lost')).toMatchObject([{ restored: 1 }]);
    expect((await token(client())).value).toBe(renewed.value);
    expect(await auth.getUsage()).toMatchObject({ used: 2 });
    expect(endpoint.requests.length).toBe(2);
  });

  test('and cannot be written again is an error, but the token in memory is served', async () => {
    const { client, store, token, use } = createBed();
    const auth = client();
    const first = await token(auth);
    await store.replace(undefined);
    store.always('swap', fails);
    expect(await use(auth, minute)).toEqual([first]);
  });

  test('is not taken for lost when an answer was merely overtaken by a write of this very process', async () => {
    const { client, clock, store, endpoint, eventsOf } = createBed();
    const auth = client();
    await clock.until(auth.getUsage());
    const { answer, release } = gated(endpoint.issue);
    endpoint.next(answer);
    const promise = auth.getToken();
    await settled();
    store.next('load', answersAfter(promise));
    const usage = auth.getUsage();
    release();
    await promise;
    expect(await usage).toMatchObject({ used: 1, pending: 1 });
    expect(eventsOf('ledger_lost')).toEqual([]);
    expect(await auth.getUsage()).toMatchObject({ used: 1, pending: 0 });
  });
});

describe('a store that breaks the contract', () => {
  test.each([
    ['no answer at all', undefined],
    ['a record without a version', { record: 'text', now: 1 }],
    ['a version without a record', { version: 'id', now: 1 }],
    ['numbers', { record: 7, version: 7, now: 1 }],
    ['no time', { record: 'text', version: 'id' }],
    ['a time that is text', { now: '1767225600000' }],
    ['bytes', { record: new Uint8Array(3), version: 'id', now: 1 }],
  ])('loading, it answers with %s: an error, nothing is sent', async (_, answer) => {
    const { client, store, endpoint } = createBed();
    const auth = client({ store: { ...store, load: async () => answer as never } });
    await failure('ERR_STORE', auth.getToken());
    expect(endpoint.requests.length).toBe(0);
  });

  test.each([[undefined], [{ swapped: true }], [{ swapped: 1, now: 1 }], [{ swapped: true, now: Number.NaN }]])(
    'swapping, it answers with %j: an error, nothing is sent',
    async (answer) => {
      const { client, clock, store, endpoint } = createBed();
      const auth = client({ store: { ...store, swap: async () => answer as never } });
      await failure('ERR_STORE', clock.until(auth.getToken()));
      expect(endpoint.requests.length).toBe(0);
    },
  );

  test('a clock with fractions of milliseconds does no harm', async () => {
    const { client, clock, store, token } = createBed();
    const auth = client({
      store: {
        ...store,
        load: async (key) => ({ ...(await store.load(key)), now: clock.now() + 0.25 }),
        swap: async (key, change) => ({ ...(await store.swap(key, change)), now: clock.now() + 0.75 }),
      },
    });
    const first = await token(auth);
    expect((await auth.getUsage()).issuances).toMatchObject([{ id: first.id }]);
  });

  const hostile = {
    get name() {
      throw new Error('from a getter');
    },
  };
  test.each([
    [undefined, 'unknown error'],
    [null, 'unknown error'],
    [hostile, 'unknown error'],
    [{ name: 'a\nb', code: '-' }, 'unknown error'],
    [{ name: 7, code: 'ETIMEDOUT' }, 'ETIMEDOUT'],
    [{ name: 'x'.repeat(60), code: 'a b' }, 'x'.repeat(60)],
    [{ name: 'x'.repeat(61), code: 'E1' }, 'E1'],
    [{ name: 'Error', code: 'E1', message: 'password' }, 'Error E1'],
  ])('a rejection, number %#, is a failure like others, told by name and code', async (reason, told) => {
    const { client, store, eventsOf } = createBed();
    const load = () => Promise.reject(reason);
    const error = await failure('ERR_STORE', client({ store: { ...store, load } }).getToken());
    expect(error.message).toContain(`(${told})`);
    expect(eventsOf('store_failed')).toMatchObject([{ operation: 'load', error: told }]);
  });

  test('an entry counts from when its token arrived', async () => {
    const { client, clock, endpoint } = createBed();
    const { answer, release } = gated(endpoint.issue);
    endpoint.next(answer);
    const auth = client();
    const underway = auth.getToken();
    await clock.advance(20 * second);
    release();
    await clock.until(underway);
    expect((await auth.getUsage()).issuances).toMatchObject([{ at: clock.now(), pending: false }]);
  });

  test('a record that cannot be written is told from one that cannot be read', async () => {
    const { client, clock, store, eventsOf } = createBed();
    store.always('swap', fails);
    const error = await failure('ERR_STORE', clock.until(client().getToken()));
    expect(error.message).toContain('could not be written');
    expect(new Set(eventsOf('store_failed').map(({ operation }) => operation))).toEqual(new Set(['swap']));
  });

  test.each([0, 1])(
    'a store that keeps %i writes and no more is an error that says so, after seconds',
    async (kept) => {
      const { client, clock, endpoint, store, eventsOf } = createBed();
      let swaps = 0;
      const swap: Store['swap'] = async (key, change) => {
        swaps += 1;
        return swaps > kept ? { swapped: false, now: clock.now() } : store.swap(key, change);
      };
      const auth = client({ store: { ...ofProcess(store), swap } });
      const from = clock.monotonic();
      // A token that has arrived is used. Its outcome is written later.
      const outcome = clock.until(auth.getToken());
      if (kept > 0) await outcome;
      else expect((await failure('ERR_STORE', outcome)).message).toContain('it refused each write.');
      expect(endpoint.requests.length).toBe(kept);
      expect(swaps).toBeLessThan(20);
      expect(clock.monotonic() - from).toBeLessThan(20 * second);
      expect(eventsOf('store_failed')).toContainEqual(
        expect.objectContaining({ operation: 'swap', error: 'Error WRITE_REFUSED' }),
      );
    },
  );

  test('a store whose reads are a little behind its writes is no failure', async () => {
    const { client, clock, store, eventsOf, token } = createBed();
    const behind = await store.load('any').then(({ now }) => ({ now }));
    const other = client();
    await token(other);
    let stale = 8;
    const load: Store['load'] = async (key) => (stale-- > 0 ? behind : store.load(key));
    await clock.until(client({ store: { ...ofProcess(store), load } }).getToken());
    expect([stale < 0, eventsOf('store_failed')]).toEqual([true, []]);
  });

  test('methods that throw at once are failures like others', async () => {
    const { client, store } = createBed();
    const load = () => {
      throw Object.assign(new Error('secret in the message'), { name: 'a name with spaces', code: 7 });
    };
    const error = await failure('ERR_STORE', client({ store: { ...store, load } }).getToken());
    expect(error.message).toContain('unknown error');
  });
});
