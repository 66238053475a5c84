import { describe, expect, test } from 'vitest';
import type { StoreDurability } from '../src/index.ts';
import { decodeRecord, encodeRecord } from '../src/ledger/codec.ts';
import type { LedgerRecord } from '../src/ledger/record.ts';
import { createBed, day, failure, hour, minute, second } from './support/bed.ts';
import { secretCanary, tokenCanary } from './support/canaries.ts';
import { settled } from './support/manual-clock.ts';
import { gated } from './support/scripted-endpoint.ts';

// A cache between core and the token endpoint answers with the first token, again and again.
function createCachedBed(durability?: StoreDurability) {
  const bed = createBed(durability);
  bed.endpoint.next(bed.endpoint.issue);
  bed.endpoint.otherwise(bed.endpoint.issueWith({ access_token: `${tokenCanary}.1` }));
  return bed;
}

describe('an answer with a token that the fleet has, or one that was reset', () => {
  test('after a 401 is reported as one of a cache, the token is kept, and one is counted', async () => {
    const { client, token, eventsOf } = createCachedBed();
    const auth = client();
    const first = await token(auth);
    await auth.invalidate(first);
    expect((await token(auth)).id).toBe(first.id);
    expect(eventsOf('token_issued')).toHaveLength(1);
    expect(eventsOf('token_request_failed')).toMatchObject([
      { code: 'ERR_TOKEN_RESPONSE', reason: 'cached', ambiguous: true },
    ]);
    expect(await auth.getUsage()).toMatchObject({ used: 2, pending: 1 });
  });

  test('after it has expired is no token, in this process and in one that begins', async () => {
    const { client, clock, token } = createCachedBed();
    const auth = client();
    await token(auth);
    await clock.advance(day + minute);
    const error = await failure('ERR_TOKEN_RESPONSE', clock.until(auth.getToken()));
    expect(error).toMatchObject({ reason: 'cached', message: expect.stringContaining('exclude token requests') });
    await clock.advance(hour);
    expect(await failure('ERR_TOKEN_RESPONSE', clock.until(client().getToken()))).toMatchObject({ reason: 'cached' });
  });

  test('is recognised though the process used one of the fleet in between', async () => {
    const { client, clock, endpoint, token, eventsOf } = createBed();
    const auth = client();
    const first = await token(auth);
    await auth.invalidate(first);
    // Another process has one issued, and this one takes it from the record.
    const other = client();
    await clock.until(other.reset());
    const second = await token(other);
    expect((await token(auth)).id).toBe(second.id);
    endpoint.otherwise(endpoint.issueWith({ access_token: first.value }));
    await clock.advance(day + minute);
    expect(await failure('ERR_TOKEN_RESPONSE', clock.until(auth.getToken()))).toMatchObject({ reason: 'cached' });
    expect(eventsOf('token_issued')).toHaveLength(2);
  });

  test('after a reset is not served: the token is compromised', async () => {
    const { client, clock, token, eventsOf } = createCachedBed();
    const auth = client();
    await token(auth);
    await clock.until(auth.reset());
    await failure('ERR_TOKEN_RESPONSE', clock.until(auth.getToken()));
    expect(eventsOf('token_issued')).toHaveLength(1);
  });

  test('after a reset is not served either if another process had it issued', async () => {
    const { client, clock, token, eventsOf } = createCachedBed();
    await token(client());
    const auth = client();
    await token(auth);
    await clock.until(auth.reset());
    await failure('ERR_TOKEN_RESPONSE', clock.until(auth.getToken()));
    expect(eventsOf('token_issued')).toHaveLength(1);
  });

  test('after a reset is not served by a process that never had the token', async () => {
    const { client, clock, token, eventsOf } = createCachedBed();
    await token(client());
    await clock.until(client().reset());
    expect(await failure('ERR_TOKEN_RESPONSE', clock.until(client().getToken()))).toMatchObject({ reason: 'cached' });
    expect(eventsOf('token_issued')).toHaveLength(1);
  });

  test('after a reset is not served with another client secret either', async () => {
    const { client, clock, token, eventsOf } = createCachedBed();
    await token(client());
    await clock.until(client().reset());
    const rotated = client({ clientSecret: `${secretCanary} 2` });
    expect(await failure('ERR_TOKEN_RESPONSE', clock.until(rotated.getToken()))).toMatchObject({ reason: 'cached' });
    expect(eventsOf('token_issued')).toHaveLength(1);
  });

  test('of an endpoint that returns one token until it expires costs nothing, although the wall clock was set', async () => {
    const { client, clock, endpoint, token, use, eventsOf } = createBed();
    const auth = client();
    const from = clock.monotonic();
    const value = `${tokenCanary}.one`;
    endpoint.otherwise((request) => {
      const expires_in = Math.floor((from + day - clock.monotonic()) / 1_000);
      return endpoint.issueWith({ access_token: value, expires_in })(request);
    });
    await token(auth);
    await clock.advance(hour);
    clock.step(2 * minute);
    await use(auth, 22 * hour, minute);
    expect(eventsOf('token_request_failed')).toEqual([]);
    expect(endpoint.requests.length).toBe(2);
  });

  test('of an endpoint that returns one token until it expires is served in the last minute, also by a new process', async () => {
    const { client, clock, endpoint, token, use, eventsOf } = createBed();
    const until = clock.monotonic() + day;
    endpoint.otherwise((request) => {
      const leftSeconds = Math.ceil((until - clock.monotonic()) / 1_000);
      const one = { access_token: `${tokenCanary}.one`, expires_in: leftSeconds };
      return (leftSeconds > 0 ? endpoint.issueWith(one) : endpoint.issue)(request);
    });
    const auth = client();
    await use(auth, day - 30_000, 5_000);
    expect((await token(auth)).value).toBe(`${tokenCanary}.one`);
    expect((await token(client())).value).toBe(`${tokenCanary}.one`);
    await use(auth, minute, 1_000);
    expect((await token(auth)).value).not.toBe(`${tokenCanary}.one`);
    expect(eventsOf('token_request_failed')).toEqual([]);
    // The first, a renewal, one in the last minute, two in the last seconds, and that for the next token.
    expect(endpoint.requests.length).toBeLessThanOrEqual(6);
  });

  test('after it has expired is no token, although the clock of the store was put right meanwhile', async () => {
    const { client, clock, store, token, use, eventsOf } = createCachedBed();
    store.aheadMs = 27 * hour;
    const auth = client();
    await token(auth);
    await use(auth, hour, minute);
    store.aheadMs = 0;
    await use(auth, minute);
    await clock.advance(23 * hour);
    expect(await failure('ERR_TOKEN_RESPONSE', clock.until(auth.getToken()))).toMatchObject({ reason: 'cached' });
    expect(eventsOf('token_issued')).toHaveLength(1);
  });

  test('of an endpoint that returns one token until it expires is served, although the clock of the store was put right', async () => {
    const { client, clock, endpoint, store, token, eventsOf } = createBed();
    const until = clock.monotonic() + day;
    endpoint.otherwise((request) => {
      const expires_in = Math.floor((until - clock.monotonic()) / 1_000);
      return endpoint.issueWith({ access_token: `${tokenCanary}.one`, expires_in })(request);
    });
    store.aheadMs = 5 * hour;
    await token(client());
    await clock.advance(hour);
    store.aheadMs = 0;
    // A new process can't know how old the token of the record is, so it asks for one.
    expect((await token(client())).value).toBe(`${tokenCanary}.one`);
    expect([endpoint.requests.length, eventsOf('token_request_failed')]).toEqual([2, []]);
  });

  test('is not served by a machine that slept longer than the token lives, although the clock of the store slept, too', async () => {
    const { client, clock, token, eventsOf } = createCachedBed('process');
    const auth = client();
    await token(auth);
    await clock.advance(40_000);
    clock.suspend(30 * hour);
    expect(await failure('ERR_TOKEN_RESPONSE', clock.until(auth.getToken()))).toMatchObject({ reason: 'cached' });
    expect(eventsOf('token_issued')).toHaveLength(1);
  });

  test('is never taken for a token of a later expiry, however often it is renewed', async () => {
    const { client, clock, endpoint, token, eventsOf } = createBed();
    const answer = endpoint.issueWith({ access_token: `${tokenCanary}.1`, expires_in: 600 });
    endpoint.otherwise(answer);
    const auth = client();
    const { expiresAt } = await token(auth);
    for (let passed = 0; passed < 8; passed += 1) {
      await clock.advance(45_000);
      const renewed = await clock.until(auth.getToken({ minLifeMs: 600_000 }));
      expect(renewed.expiresAt).toBeLessThanOrEqual(expiresAt + 1_000);
    }
    expect(eventsOf('token_request_failed').length).toBeGreaterThan(0);
  });

  test('of an endpoint that returns one token until it expires is served, although the first request was slow', async () => {
    const { client, clock, endpoint, token, eventsOf } = createBed();
    const value = `${tokenCanary}.one`;
    const { answer, release } = gated(endpoint.issueWith({ access_token: value }));
    endpoint.next(answer);
    const waiting = client().getToken();
    await clock.advance(20 * second);
    // It was issued just now.
    release();
    await clock.until(waiting);
    await clock.advance(day - 70 * second);
    endpoint.next(endpoint.issueWith({ access_token: value, expires_in: 70 }));
    expect((await token(client())).value).toBe(value);
    expect([endpoint.requests.length, eventsOf('token_request_failed')]).toEqual([2, []]);
  });

  test('is not served if it repeats a token that was reset on its way', async () => {
    const { client, clock, endpoint, token, eventsOf } = createBed();
    await token(client());
    await clock.until(client().reset());
    const value = `${tokenCanary}.late`;
    const { answer, release } = gated(endpoint.issueWith({ access_token: value }));
    endpoint.next(answer);
    const waiting = client().getToken();
    await settled();
    await client().reset();
    endpoint.otherwise(endpoint.issueWith({ access_token: value }));
    release();
    expect(await failure('ERR_TOKEN_RESPONSE', clock.until(waiting))).toMatchObject({ reason: 'cached' });
    expect(eventsOf('token_issued')).toHaveLength(2);
  });

  test('is a token if the fleet never had it, and if the endpoint returns it to another client secret', async () => {
    const { client, token } = createCachedBed();
    const first = await token(client());
    const rotated = await token(client({ clientSecret: `${secretCanary} 2` }));
    expect(rotated.value).toBe(first.value);
  });

  test('is a token for a process that cannot open the one in the record, unless that was reset', async () => {
    const { client, clock, store, token, eventsOf } = createCachedBed();
    const first = await token(client());
    const record = decodeRecord((await store.text()) ?? '') as LedgerRecord;
    const tokens = record.tokens.map((stored) => ({ ...stored, sealed: '' }));
    await store.replace(encodeRecord({ ...record, tokens }));
    // The cache repeats the whole lifetime, so the token seems to expire later.
    await clock.advance(hour);
    const another = await token(client());
    expect([another.value, another.id === first.id]).toEqual([first.value, false]);
    expect((await token(client())).id).toBe(another.id);
    expect(eventsOf('token_issued')).toHaveLength(2);
    await clock.until(client().reset());
    expect(await failure('ERR_TOKEN_RESPONSE', clock.until(client().getToken()))).toMatchObject({ reason: 'cached' });
  });

  test('ahead of its expiry changes nothing for callers, and is asked for less and less often', async () => {
    const { client, token, use, eventsOf } = createCachedBed();
    const auth = client();
    const first = await token(auth);
    expect(await use(auth, 23 * hour, minute)).toEqual([first]);
    expect(eventsOf('token_issued')).toHaveLength(1);
    const failedAt = eventsOf('token_request_failed').map(({ at }) => at);
    const pauses = failedAt.slice(1).map((at, index) => at - (failedAt[index] ?? 0));
    expect(Math.max(...pauses)).toBeGreaterThan(4 * Math.min(...pauses));
  });

  test('costs no more than failures do, however long it lasts', async () => {
    const { client, clock, endpoint } = createCachedBed();
    const auth = client();
    for (let passedMs = 0; passedMs < 3 * day; passedMs += 10 * minute) {
      const held = await clock.until(auth.getToken()).catch(() => undefined);
      if (held) await auth.invalidate(held);
      await clock.advance(10 * minute);
    }
    expect(endpoint.requests.length).toBeLessThan(3 * 75);
  });
});

test('a token that another audience has is no repetition', async () => {
  const { client, endpoint, token } = createBed();
  endpoint.otherwise(endpoint.issueWith({ access_token: `${tokenCanary}.same` }));
  const [one, other] = [await token(client()), await token(client({ audience: 'invoices' }))];
  expect([one.value, other.value]).toEqual([`${tokenCanary}.same`, `${tokenCanary}.same`]);
});
