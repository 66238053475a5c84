import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, test } from 'vitest';
import type { ServiceAuth, ServiceAuthEvent, ServiceAuthEventListener } from '../src/index.ts';
import { createBed, failure, hour, minute, second } from './support/bed.ts';
import { fails } from './support/faulty-store.ts';
import { answering, gated } from './support/scripted-endpoint.ts';

/** A listener, and what it heard. */
function recorder(): { listener: ServiceAuthEventListener; heard: ServiceAuthEvent[] } {
  const heard: ServiceAuthEvent[] = [];
  return { listener: (event) => void heard.push(event), heard };
}

describe('subscribe', () => {
  test('gives each listener what onEvent gets, until it is ended', async () => {
    const { client, clock, events, token } = createBed();
    const auth = client();
    const [one, two] = [recorder(), recorder()];
    const endOne = auth.subscribe(one.listener);
    auth.subscribe(two.listener);
    const endTwice = auth.subscribe(two.listener);
    await token(auth);
    expect(one.heard).toEqual(events);
    expect(two.heard).toEqual([...events, ...events]);
    endOne();
    endTwice();
    await clock.advance(minute);
    await auth.invalidate(await token(auth));
    expect(events.map(({ type }) => type)).toEqual(['token_issued', 'token_rejected']);
    expect(one.heard).toHaveLength(1);
    expect(two.heard).toHaveLength(3);
  });

  test('a listener that throws, rejects, or changes the event, changes nothing for the others', async () => {
    const { client, events, token } = createBed();
    const auth = client();
    auth.subscribe(() => {
      throw new Error('a listener throws');
    });
    auth.subscribe((async () => Promise.reject(new Error('a listener rejects'))) as ServiceAuthEventListener);
    auth.subscribe((event) => Object.assign(event, { type: 'changed' }));
    const { listener, heard } = recorder();
    auth.subscribe(listener);
    await token(auth);
    expect(heard).toEqual(events);
    expect(heard).toMatchObject([{ type: 'token_issued' }]);
  });

  test('a listener that ends itself, or another one, while an event is told leaves nobody out', async () => {
    const { client, token } = createBed();
    const auth = client();
    const { listener, heard } = recorder();
    const ends: (() => void)[] = [];
    const endAll = () => {
      for (const end of ends) end();
    };
    ends.push(auth.subscribe(endAll));
    ends.push(auth.subscribe(listener));
    await token(auth);
    expect(heard).toHaveLength(1);
    await auth.invalidate(await token(auth));
    expect(heard).toHaveLength(1);
  });

  test.each([undefined, null, 'console.log', {}])('rejects %j, which is no function', async (listener) => {
    const { client } = createBed();
    const error = await failure('ERR_CONFIG', () => client().subscribe(listener as never));
    expect(error.problems).toEqual([{ option: 'listener', message: 'must be a function' }]);
  });
});

test('null as options means none', async () => {
  const { client, token } = createBed();
  const auth = client();
  const { heard, listener } = recorder();
  auth.subscribe(listener, null as never);
  await token(auth);
  expect(heard.map(({ type }) => type)).toEqual(['token_issued']);
});

describe('the events of operations', () => {
  test('go only to listeners that ask for them', async () => {
    const { client, events, token } = createBed();
    const auth = client();
    const [plain, observer] = [recorder(), recorder()];
    auth.subscribe(plain.listener);
    auth.subscribe(observer.listener, { operations: true });
    await token(auth);
    expect([plain.heard, events].map((heard) => heard.map(({ type }) => type))).toEqual([
      ['token_issued'],
      ['token_issued'],
    ]);
    expect(observer.heard.map(({ type }) => type)).toEqual([
      'acquisition_started',
      'store_called',
      'store_called',
      'store_called',
      'token_issued',
      'acquisition_ended',
    ]);
  });

  test('come in the async context of the caller that begins an attempt', async () => {
    const { client, clock } = createBed();
    const auth = client();
    const context = new AsyncLocalStorage<string>();
    const heardIn: string[] = [];
    const listener = ({ type }: ServiceAuthEvent) => {
      if (type === 'acquisition_started') heardIn.push(`${type} in ${context.getStore()}`);
    };
    auth.subscribe(listener, { operations: true });
    await clock.until(Promise.all(['one', 'two'].map((name) => context.run(name, () => auth.getToken()))));
    expect(heardIn).toEqual(['acquisition_started in one']);
  });

  test('may be answered with a call of getToken(), which shares the attempt', async () => {
    const { client, clock, endpoint } = createBed();
    const auth = client();
    const { listener, heard } = recorder();
    const tokens: Promise<unknown>[] = [];
    auth.subscribe(listener, { operations: true });
    auth.subscribe((event) => void (/^acquisition_/.test(event.type) && tokens.push(auth.getToken())), {
      operations: true,
    });
    const [first, second] = await clock.until(Promise.all([auth.getToken(), auth.getToken()]));
    expect(await Promise.all(tokens)).toEqual([first, first]);
    expect([second, endpoint.issued]).toEqual([first, 1]);
    expect(heard.filter(({ type }) => type.startsWith('acquisition'))).toMatchObject([
      { type: 'acquisition_started', callers: 1 },
      { type: 'acquisition_ended', callers: 3 },
    ]);
  });

  test('say how long the store took, and whether it failed or had a conflict', async () => {
    const { client, clock, store } = createBed();
    const auth = client();
    const { listener, heard } = recorder();
    auth.subscribe(listener, { operations: true });
    store.next('load', fails);
    store.next('swap', async () => ({ swapped: false, now: clock.now() }) as never);
    store.next('load', async (call) => {
      await clock.advance(300);
      return call();
    });
    await clock.until(auth.getToken());
    const calls = heard.filter((event) => event.type === 'store_called');
    expect(calls.slice(0, 3)).toMatchObject([
      { operation: 'load', outcome: 'failed', error: 'Error ECONNRESET' },
      { operation: 'load', outcome: 'done', error: undefined, durationMs: 300 },
      { operation: 'swap', outcome: 'conflict' },
    ]);
    expect(calls.slice(3).every(({ outcome }) => outcome === 'done')).toBe(true);
  });

  test('say how an acquisition ended, how long it took and how many callers waited', async () => {
    const { client, clock, endpoint, store } = createBed();
    const auth = client();
    const { listener, heard } = recorder();
    auth.subscribe(listener, { operations: true });
    const { answer, release } = gated(endpoint.issue);
    endpoint.next(answer);
    const callers = Promise.all(Array.from({ length: 20 }, () => auth.getToken()));
    await clock.advance(second);
    release();
    const [first] = await callers;
    expect(heard.find(({ type }) => type === 'token_issued')).toMatchObject({ durationMs: second });
    await clock.advance(26 * second);
    expect(await auth.getToken()).toBe(first);
    await clock.advance(0);
    store.always('both', fails);
    await clock.advance(30 * second);
    await auth.getToken();
    await auth.reset().catch(() => {});
    await failure('ERR_STORE', auth.getToken());
    const acquisitions = heard.filter((event) => event.type === 'acquisition_ended');
    const begun = heard.filter((event) => event.type === 'acquisition_started');
    const ids = begun.map(({ acquisition }) => acquisition);
    expect(begun.map(({ reason, callers }) => [reason, callers])).toEqual([
      ['cold', 1],
      ['revalidate', 0],
      ['revalidate', 1],
      ['cold', 1],
    ]);
    expect(new Set(ids).size).toBe(4);
    expect(acquisitions.map(({ acquisition }) => acquisition)).toEqual(ids);
    expect(acquisitions).toMatchObject([
      { reason: 'cold', outcome: 'issued', callers: 20, durationMs: second, code: undefined },
      { reason: 'revalidate', outcome: 'kept', callers: 0 },
      { reason: 'revalidate', outcome: 'failed', callers: 1, code: 'ERR_STORE' },
      { reason: 'cold', outcome: 'failed', callers: 1, code: 'ERR_STORE' },
    ]);
  });
});

describe('news that repeat', () => {
  test('token_unavailable tells in each process that its callers get no token, once a minute for each code', async () => {
    const { client, clock, endpoint, store, eventsOf } = createBed();
    endpoint.otherwise(answering(401));
    const [one, two] = [client(), client()];
    const { retryAt } = await failure('ERR_CREDENTIALS_REJECTED', clock.until(one.getToken()));
    for (let call = 0; call < 10; call += 1) await failure('ERR_CREDENTIALS_REJECTED', clock.until(two.getToken()));
    const unavailable = { code: 'ERR_CREDENTIALS_REJECTED', retryAt, count: 1 };
    expect(eventsOf('token_unavailable')).toMatchObject([
      { ...unavailable, instance: 'process 1' },
      { ...unavailable, instance: 'process 2' },
    ]);
    store.always('both', fails);
    // The record that it read refuses for a second.
    await clock.advance(second);
    await failure('ERR_STORE', clock.until(two.getToken()));
    store.always('both');
    await clock.advance(minute);
    await failure('ERR_CREDENTIALS_REJECTED', clock.until(two.getToken()));
    expect(eventsOf('token_unavailable').slice(2)).toMatchObject([
      { code: 'ERR_STORE', count: 1 },
      { ...unavailable, count: 10, instance: 'process 2' },
    ]);
  });

  test('token_unavailable tells of no caller who went away, and of no client that was closed', async () => {
    const { client, clock, endpoint, eventsOf } = createBed();
    endpoint.next(gated(endpoint.issue).answer);
    const auth = client();
    const controller = new AbortController();
    const waiting = auth.getToken({ signal: controller.signal });
    controller.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    const closing = auth.close();
    await clock.advance(2 * second);
    await closing;
    await failure('ERR_CLOSED', auth.getToken());
    expect(eventsOf('token_unavailable')).toEqual([]);
  });

  test('store_failed comes once a minute while the store is away, and at once when it fails anew', async () => {
    const { client, clock, store, eventsOf } = createBed();
    const auth = client();
    store.always('both', fails);
    for (let call = 0; call < 90; call += 1) {
      await failure('ERR_STORE', clock.until(auth.getUsage()));
      await clock.advance(second);
    }
    expect(eventsOf('store_failed').map(({ count }) => count)).toEqual([1, 60]);
    store.always('both');
    await clock.until(auth.getUsage());
    store.always('both', fails);
    await failure('ERR_STORE', clock.until(auth.getUsage()));
    // The 29 failures that no event told before the store answered again are in the next one.
    expect(eventsOf('store_failed').map(({ count }) => count)).toEqual([1, 60, 30]);
    expect(eventsOf('store_recovered')).toHaveLength(1);
    await failure('ERR_STORE', clock.until(auth.getUsage()));
    expect(eventsOf('store_failed')).toHaveLength(3);
  });

  test('issuance_refused comes once a minute for each audience, and its counts are the refused calls', async () => {
    const { client, clock, token, eventsOf } = createBed();
    const issuanceLimit = { tokens: 1, windowMs: hour, reserve: 0 };
    await token(client({ issuanceLimit }));
    const [invoices, customers] = ['invoices', 'customers'].map((audience) => client({ audience, issuanceLimit }));
    for (let call = 0; call < 2_000; call += 1) {
      await failure('ERR_ISSUANCE_LIMIT', clock.until((invoices as ServiceAuth).getToken()));
      if (call % 500 === 0) await failure('ERR_ISSUANCE_LIMIT', clock.until((customers as ServiceAuth).getToken()));
      await clock.advance(0.1 * second);
    }
    const refused = eventsOf('issuance_refused');
    const countsOf = (name: string) => refused.filter(({ audience }) => audience === name).map(({ count }) => count);
    expect(countsOf('invoices')).toEqual([1, 600, 600, 600]);
    expect(countsOf('customers')).toEqual([1, 2]);
    await clock.advance(minute);
    await failure('ERR_ISSUANCE_LIMIT', clock.until((invoices as ServiceAuth).getToken()));
    expect(eventsOf('issuance_refused').at(-1)).toMatchObject({ audience: 'invoices', count: 200 });
  });

  test('issuance_refused has the details of the latest refusal, and no clock that is set back delays it', async () => {
    const { client, clock, token, eventsOf } = createBed();
    const issuanceLimit = { tokens: 1, windowMs: hour, reserve: 0 };
    await token(client({ issuanceLimit }));
    const auth = client({ audience: 'invoices', issuanceLimit });
    await failure('ERR_ISSUANCE_LIMIT', clock.until(auth.getToken()));
    clock.step(-5 * minute);
    await failure('ERR_ISSUANCE_LIMIT', clock.until(auth.getToken()));
    expect(eventsOf('issuance_refused')).toHaveLength(1);
    await clock.advance(minute);
    const { retryAt } = await failure('ERR_ISSUANCE_LIMIT', clock.until(auth.getToken()));
    const [first, second] = eventsOf('issuance_refused');
    expect(second).toMatchObject({ retryAt, count: 2, limit: 1, used: 1, windowMs: hour });
    expect(second?.retryAt).not.toBe(first?.retryAt);
  });

  test.each(['the same process', 'another process'])(
    'a refusal is news again once %s had a token issued',
    async (who) => {
      const { client, clock, token, eventsOf } = createBed('process');
      const issuanceLimit = { tokens: 2, windowMs: 10 * minute, reserve: 0 };
      const [auth, other] = [client({ issuanceLimit }), client({ issuanceLimit })];
      const refused = () => failure('ERR_ISSUANCE_LIMIT', clock.until(auth.getToken()));
      await token(auth);
      await clock.advance(5 * minute);
      await auth.reset();
      await token(auth);
      await auth.reset();
      const { retryAt } = await refused();
      await clock.advance(retryAt - clock.now() - 30 * second);
      for (let call = 0; call < 3; call += 1) await refused();
      await clock.advance(30 * second);
      await token(who === 'another process' ? other : auth);
      await token(auth);
      await auth.reset();
      await refused();
      await refused();
      expect(eventsOf('issuance_refused').map(({ reason, count }) => [reason, count])).toEqual([
        ['reset', 1],
        ['reset', 1],
        ['reset', 3],
      ]);
    },
  );
});
