import { describe, expect, test } from 'vitest';
import { createUsageReader, memoryStore, type UsageReaderOptions } from '../src/index.ts';
import { createBed, day, failure, hour, minute } from './support/bed.ts';
import { fails, hangs } from './support/faulty-store.ts';
import { answering, failing } from './support/scripted-endpoint.ts';

const who = { authUrl: 'https://auth.example.com', clientId: 'client-1' };

describe('a reader of the usage', () => {
  test('says what a client says, without a secret, and writes nothing', async () => {
    const { client, clock, store, token, endpoint } = createBed();
    const auth = client({
      issuanceLimit: {
        windows: [
          { tokens: 10, windowMs: hour },
          { tokens: 50, windowMs: day },
        ],
      },
    });
    await token(auth);
    await clock.advance(minute);
    await auth.reset({ reason: 'found in a log' });
    await token(auth);
    const before = [await store.text(), store.calls.swap];
    const reader = createUsageReader({ ...who, store, clock });
    const usage = await auth.getUsage();
    const others = usage.windows.map((window) => ({ ...window, own: false }));
    expect(await reader.getUsage()).toEqual({ ...usage, windows: others });
    await clock.advance(30 * day);
    await reader.getUsage();
    expect([await store.text(), store.calls.swap]).toEqual(before);
    expect(endpoint.requests.length).toBe(2);
  });

  test('shows the agreement that the fleet wrote, or the one that it is given', async () => {
    const { client, clock, store, token } = createBed();
    await token(client({ issuanceLimit: { tokens: 300, reserve: 20 } }));
    expect(await createUsageReader({ ...who, store, clock }).getUsage()).toMatchObject({ limit: 300, usable: 280 });
    const issuanceLimit = { tokens: 100, reserve: 0 };
    const { windows } = await createUsageReader({ ...who, store, clock, issuanceLimit }).getUsage();
    expect(windows).toMatchObject([
      { tokens: 100, usable: 100, used: 1, own: true },
      { tokens: 300, own: false },
    ]);
    // The agreement is still shown when no process has stated it for a long time.
    await clock.advance(10 * hour);
    expect(await createUsageReader({ ...who, store, clock }).getUsage()).toMatchObject({ limit: 300, used: 1 });
  });

  test('shows the default where nobody has stated an agreement, with a record or without one', async () => {
    const { client, clock, store, token } = createBed();
    const reader = createUsageReader({ ...who, store, clock });
    const windows = [{ tokens: 150, windowMs: day, own: true }];
    const nothing = { used: 0, issuances: [], tokens: [], recordId: undefined };
    expect(await reader.getUsage()).toMatchObject({ limit: 150, availableNow: 28, windows, ...nothing });
    expect(await store.text()).toBeUndefined();
    await token(client({ issuanceLimit: 'inherit' }));
    const issuances = [{ reason: 'cold' }];
    expect(await reader.getUsage()).toMatchObject({ limit: 150, used: 1, availableNow: 27, windows, issuances });
  });

  test('shows an agreement that it is given where there is no record', async () => {
    const { clock, store } = createBed();
    const issuanceLimit = { tokens: 100 };
    const known = await createUsageReader({ ...who, store, clock, issuanceLimit }).getUsage();
    expect(known).toMatchObject({ limit: 100, remaining: 80, availableNow: 18 });
  });

  test('tells two records of one client id apart, and says how far the clock of the store is ahead', async () => {
    const { client, clock, store, token } = createBed();
    await token(client());
    const ahead = memoryStore({ clock: { ...clock, now: () => clock.now() + 90_000 } });
    await token(client({ store: ahead }));
    const [one, other] = [store, ahead].map((store) => createUsageReader({ ...who, store, clock }));
    const [first, again, second] = [await one?.getUsage(), await one?.getUsage(), await other?.getUsage()];
    expect(first?.recordId).toMatch(/^[\w-]{8,}$/);
    expect(again?.recordId).toBe(first?.recordId);
    expect(second?.recordId).not.toBe(first?.recordId);
    expect([first?.storeAheadMs, second?.storeAheadMs]).toEqual([0, 90_000]);
  });

  test('says so no longer when the clock of the store was put right', async () => {
    const { client, clock, store, token } = createBed();
    store.aheadMs = 50_000;
    const auth = client();
    await token(auth);
    store.aheadMs = 0;
    await clock.advance(30_000);
    const reader = createUsageReader({ ...who, store, clock });
    expect([await auth.getUsage(), await reader.getUsage()].map(({ storeAheadMs }) => storeAheadMs)).toEqual([0, 0]);
  });

  test('finds the record of the client by its key', async () => {
    const { client, clock, token } = createBed();
    const store = memoryStore({ clock });
    await token(client({ store }));
    const reader = createUsageReader({ ...who, authUrl: 'https://AUTH.example.com:443/', store, clock });
    expect((await store.load(await reader.recordKey)).record).toContain('service-auth/');
    expect((await reader.getUsage()).used).toBe(1);
  });

  test('tells of credentials that were rejected for an audience that has no token', async () => {
    const { client, clock, endpoint, store, token } = createBed();
    await token(client());
    endpoint.next(answering(403, '{"error":"access_denied"}'));
    await failure('ERR_CREDENTIALS_REJECTED', clock.until(client({ audience: 'invoices' }).getToken()));
    const until = clock.now() + 5 * minute;
    const reader = createUsageReader({ ...who, store, clock });
    expect(await reader.getUsage()).toMatchObject({
      availableNow: 0,
      refusedUntil: until,
      refusedBecause: 'credentials',
      holds: [{ kind: 'credentials', until, audience: 'invoices', status: 403 }],
    });
    await clock.advance(5 * minute);
    await token(client({ audience: 'invoices' }));
    expect(await reader.getUsage()).toMatchObject({ refusedUntil: undefined, availableNow: 26, holds: [] });
  });

  test('tells of a failure after which all wait, unless they have a token', async () => {
    const { client, clock, endpoint, store, token } = createBed();
    const [orders, invoices] = [client(), client({ audience: 'invoices' })];
    await token(orders);
    await clock.advance(28 * hour);
    await token(orders);
    endpoint.otherwise(answering(503));
    await failure('ERR_TOKEN_ENDPOINT', clock.until(invoices.getToken()));
    const reader = createUsageReader({ ...who, store, clock });
    const [hold] = (await reader.getUsage()).holds;
    expect(hold).toMatchObject({ kind: 'backoff', audience: undefined, status: 503 });
    expect(await reader.getUsage()).toMatchObject({
      availableNow: 0,
      refusedUntil: hold?.until,
      refusedBecause: 'backoff',
    });
    const { retryAt } = await failure('ERR_TOKEN_ENDPOINT', clock.until(invoices.getToken()));
    expect(retryAt).toBe(hold?.until);

    endpoint.otherwise(endpoint.issue);
    await clock.advance(15 * minute);
    await token(invoices);
    endpoint.otherwise(failing('ECONNREFUSED'));
    await clock.until(invoices.invalidate(await token(invoices)));
    await failure(
      'ERR_TOKEN_ENDPOINT',
      clock.until(client({ audience: 'invoices', storeKey: 'k'.repeat(32) }).getToken()),
    );
    const served = await reader.getUsage();
    expect(served).toMatchObject({ refusedUntil: undefined, holds: [{ kind: 'backoff', audience: 'invoices' }] });
    expect(served.availableNow).toBeGreaterThan(0);
  });

  test('rejects if the store fails or has a damaged record', async () => {
    const { client, clock, store, token } = createBed();
    await token(client());
    const reader = createUsageReader({ ...who, store: { ...store, adviceIfSilent: 'open the firewall.' }, clock });
    store.always('load', fails);
    await failure('ERR_STORE', reader.getUsage());
    const advice = 'name the primary server.';
    store.always('load', () => Promise.reject(Object.assign(new Error('secret'), { advice })));
    const { message } = await failure('ERR_STORE', reader.getUsage());
    expect(message).toContain('(Error). Check the store and try again: name the primary server.');
    store.always('load', hangs);
    const silent = await failure('ERR_STORE', clock.until(reader.getUsage()));
    expect(silent.message).toContain('(TimeoutError). Check the store and try again: open the firewall.');
    store.always('load');
    await store.replace('service-auth/3 00000000 {}');
    const error = await failure('ERR_STORE_INTEGRITY', reader.getUsage());
    expect(error.message).toContain(await reader.recordKey);
  });

  test('is refused with all problems of its options', async () => {
    const wrong = { authUrl: 'nowhere', store: {}, clientId: '', issuanceLimit: { tokens: 0 }, secret: 'canary' };
    const { problems, message } = await failure('ERR_CONFIG', () =>
      createUsageReader(wrong as unknown as UsageReaderOptions),
    );
    expect(problems.map(({ option }) => option)).toEqual([
      'secret',
      'authUrl',
      'clientId',
      'store',
      'issuanceLimit.tokens',
    ]);
    expect(message).not.toContain('canary');
  });
});
