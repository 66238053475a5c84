import { describe, expect, test } from 'vitest';
import type { ServiceAuth } from '../src/index.ts';
import { createBed, day, failure, hour, minute, second } from './support/bed.ts';
import { answersAfter, fails, losesReply } from './support/faulty-store.ts';
import { createGate } from './support/gate.ts';
import { type ManualClock, settled } from './support/manual-clock.ts';
import { answering, gated } from './support/scripted-endpoint.ts';

describe('reset', () => {
  test('drops the token at once, and the next caller gets a new one', async () => {
    const { client, endpoint, token, eventsOf } = createBed();
    const auth = client();
    const first = await token(auth);
    await auth.reset();
    expect(auth.peekToken()).toBeUndefined();
    const next = await token(auth);
    expect(next.value).not.toBe(first.value);
    expect((await token(client())).value).toBe(next.value);
    expect(endpoint.requests.length).toBe(2);
    expect(eventsOf('token_issued').map(({ reason }) => reason)).toEqual(['cold', 'reset']);
  });

  test('of one token by thirty processes costs one token', async () => {
    const { client, clock, endpoint, token } = createBed();
    const fleet = Array.from({ length: 30 }, () => client());
    const { id } = await token(fleet[0] as ServiceAuth);
    for (const auth of fleet) await token(auth);
    for (const auth of fleet) {
      expect(await auth.reset({ reason: 'one alarm' })).toEqual({ tokenId: id, retryAt: undefined });
      await token(auth);
      await clock.advance(100);
    }
    expect(endpoint.requests.length).toBe(2);
    expect((await client().getUsage()).resets).toHaveLength(20);
  });

  test('by processes that all have the token, at one moment, costs one token', async () => {
    const { client, clock, endpoint, token } = createBed();
    const fleet = Array.from({ length: 10 }, () => client());
    for (const auth of fleet) await token(auth);
    await clock.until(Promise.all(fleet.map((auth) => auth.reset().then(() => auth.getToken()))));
    expect(endpoint.requests.length).toBe(2);
  });

  test('of the token that replaced a reset one ends it, too', async () => {
    const { client, endpoint, token } = createBed();
    const [one, two] = [client(), client()];
    await token(one);
    await one.reset();
    const second = await token(two);
    expect(await two.reset()).toMatchObject({ tokenId: second.id });
    expect((await token(two)).id).not.toBe(second.id);
    expect(endpoint.requests.length).toBe(3);
  });

  test.each([
    ['has been idle since', (clock: ManualClock) => clock.advance(29 * second)],
    ['was asleep since', async (clock: ManualClock) => clock.suspend(hour)],
  ])(
    'by a process that has a reset token and %s ends the replacement, because the process cannot mean the old one',
    async (_, passes) => {
      const { client, clock, endpoint, token } = createBed();
      const [one, two] = [client(), client()];
      await token(one);
      await token(two);
      await one.reset();
      const second = await token(one);
      await passes(clock);
      await two.reset();
      expect((await token(two)).id).not.toBe(second.id);
      expect(endpoint.requests.length).toBe(3);
    },
  );

  test('by a process without a token ends what the fleet uses', async () => {
    const { client, endpoint, token } = createBed();
    const [one, two] = [client(), client()];
    await token(one);
    await one.reset();
    const second = await token(one);
    expect(await two.reset()).toMatchObject({ tokenId: second.id });
    await token(two);
    expect(endpoint.requests.length).toBe(3);
  });

  test('is seen by the others within 30 seconds, however often they ask', async () => {
    for (const everyMs of [100, second, 7 * second, 26 * second, 29 * second]) {
      const { client, clock, token, use } = createBed();
      const [one, two] = [client(), client()];
      const first = await token(one);
      await token(two);
      await use(two, 25 * second, everyMs);
      await one.reset();
      const resetAt = clock.monotonic();
      while (clock.monotonic() - resetAt < 30 * second) await use(two, everyMs, everyMs);
      expect((await token(two)).value).not.toBe(first.value);
    }
  });

  test('is read by processes that slept or were idle before they serve the token again', async () => {
    const { client, clock, token } = createBed();
    const [one, two] = [client(), client()];
    const first = await token(one);
    await token(two);
    await one.reset();
    clock.suspend(31 * second);
    expect(two.peekToken()).toBeUndefined();
    expect((await token(two)).value).not.toBe(first.value);
  });

  test('is seen by others even when no new token can be had: they fail rather than use the old one', async () => {
    const { client, clock, endpoint, token } = createBed();
    const [one, two] = [client(), client()];
    await token(one);
    await token(two);
    endpoint.otherwise(answering(429, '', { 'retry-after': '3600' }));
    // At a moment at which they want to renew it as well.
    await clock.advance(0.9 * day);
    await one.reset();
    await failure('ERR_RATE_LIMITED', one.getToken());
    await clock.advance(29 * second);
    await failure('ERR_RATE_LIMITED', clock.until(two.getToken()));
    expect(two.peekToken()).toBeUndefined();
  });

  test('without a store: this process never serves the token again, whatever the store contains later', async () => {
    const { client, clock, store, endpoint, token, use } = createBed();
    const auth = client();
    const first = await token(auth);
    store.always('both', fails);
    await failure('ERR_STORE', clock.until(auth.reset()));
    await failure('ERR_STORE', clock.until(auth.getToken()));
    store.always('both');
    const tokens = await use(auth, 5 * minute);
    expect(tokens.map(({ value }) => value)).not.toContain(first.value);
    expect(endpoint.requests.length).toBe(2);
  });

  test('whose confirmation is lost is made sure of', async () => {
    const { client, clock, store, token } = createBed();
    const auth = client();
    const first = await token(auth);
    store.next('swap', losesReply);
    await clock.until(auth.reset());
    expect((await token(auth)).value).not.toBe(first.value);
  });

  test('during a request of this process: the token on its way is not used', async () => {
    const { client, clock, endpoint } = createBed();
    const { answer, release } = gated(endpoint.issue);
    endpoint.next(answer);
    const auth = client();
    const promise = auth.getToken();
    await settled();
    await auth.reset();
    release();
    const token = await clock.until(promise);
    expect(endpoint.requests.length).toBe(2);
    expect(token.value).toContain('.2');
    expect(await auth.getUsage()).toMatchObject({ used: 2, pending: 0 });
  });

  test('during a request of another process: the token on its way is not used there', async () => {
    const { client, clock, endpoint, eventsOf } = createBed();
    const { answer, release } = gated(endpoint.issue);
    endpoint.next(answer);
    const promise = client().getToken();
    await settled();
    await client().reset();
    release();
    expect((await clock.until(promise)).value).toContain('.2');
    expect(eventsOf('token_issued').map(({ reason }) => reason)).toEqual(['cold', 'reset']);
  });

  test('that a slow read finds does not end the token that came after it', async () => {
    const { client, clock, store, token } = createBed();
    const [one, two] = [client(), client()];
    await token(one);
    const first = await token(two);
    await clock.advance(26 * second);
    await one.reset();
    const gate = createGate();
    store.next('load', answersAfter(gate.opened));
    expect(await two.getToken()).toBe(first);
    await settled();
    await two.invalidate(first);
    const next = await token(two);
    gate.open();
    await settled();
    expect(await two.getToken()).toBe(next);
  });

  test('during a read of this process: the token that it finds is not used', async () => {
    const { client, clock, store, token } = createBed();
    const first = await token(client());
    const auth = client();
    const gate = createGate();
    store.next('load', answersAfter(gate.opened));
    const promise = auth.getToken();
    await settled();
    const reset = auth.reset();
    await settled();
    gate.open();
    await reset;
    expect((await clock.until(promise)).value).not.toBe(first.value);
  });

  test('that the store hears of late: a caller meanwhile gets a token from after it', async () => {
    const { client, clock, store, token } = createBed();
    const first = await token(client());
    const auth = client();
    const gate = createGate();
    store.next('swap', async (call) => {
      await gate.opened;
      return call();
    });
    const reset = auth.reset();
    await settled();
    const second = await clock.until(auth.getToken());
    expect(second.value).not.toBe(first.value);
    gate.open();
    await reset;
    expect(auth.peekToken()).toBe(second);
  });

  test('that is confirmed late: a token that came after it is kept', async () => {
    const { client, clock, store, token } = createBed();
    const auth = client();
    await token(auth);
    const gate = createGate();
    store.next('swap', answersAfter(gate.opened));
    const reset = auth.reset();
    await settled();
    const next = await clock.until(auth.getToken());
    gate.open();
    await reset;
    expect(auth.peekToken()).toBe(next);
  });

  test('twice at once, and again, costs a token for each one that was used', async () => {
    const { client, clock, endpoint, token } = createBed();
    const [one, two] = [client(), client()];
    await token(one);
    await clock.until(Promise.all([one.reset(), two.reset()]));
    await token(one);
    await one.reset();
    await one.reset();
    await token(one);
    expect(endpoint.requests.length).toBe(3);
  });

  test('is not undone by a record that was lost', async () => {
    const { client, store, token, use } = createBed();
    const auth = client();
    const first = await token(auth);
    const old = await store.text();
    await auth.reset();
    await store.replace(old);
    expect((await token(auth)).value).not.toBe(first.value);
    await store.replace(undefined);
    expect((await use(auth, minute)).map(({ value }) => value)).not.toContain(first.value);
    expect((await token(client())).value).not.toBe(first.value);
  });

  test('is written again to a store that went back and continued, so that the loss is invisible', async () => {
    const { client, clock, endpoint, store, token, use } = createBed();
    const auth = client();
    const first = await token(auth);
    const old = await store.text();
    await clock.advance(hour);
    await auth.invalidate(first);
    await token(auth);
    await auth.reset();
    await store.replace(old);
    // Others have no memory of it, and write more than was lost.
    const others = client({ audience: 'invoices' });
    for (let written = 0; written < 5; written++) await others.reset();
    const adopted = client();
    expect((await token(adopted)).value).toBe(first.value);
    const next = await token(auth);
    expect(next.value).not.toBe(first.value);
    await clock.advance(minute);
    expect((await use(adopted, minute)).map(({ value }) => value)).toEqual([next.value]);
    expect(endpoint.requests.length).toBe(3);
  });

  test('ends no token that was issued after it, though the store went back and hears of it again', async () => {
    const { client, clock, endpoint, store, token, use } = createBed();
    const [one, two] = [client(), client()];
    await token(one);
    const old = await store.text();
    await clock.advance(second);
    for (let times = 0; times < 5; times++) await one.reset();
    await store.replace(old);
    await clock.advance(day);
    const good = await token(two);
    expect(await use(one, minute)).toEqual([good]);
    expect(await use(two, minute)).toEqual([good]);
    expect(endpoint.requests.length).toBe(2);
  });

  test('ends a token that memory puts back into a store that lost it, though another key seals it', async () => {
    const { client, clock, store, token, use } = createBed();
    const auth = client();
    const first = await token(auth);
    await store.replace(undefined);
    await clock.advance(second);
    await client({ clientSecret: 'the-next-secret' }).reset();
    await clock.advance(30 * second);
    expect((await use(auth, minute)).map(({ value }) => value)).not.toContain(first.value);
    expect((await token(client())).value).not.toBe(first.value);
  });

  test('of a token that the store went back to before is told to be of none, until a process puts it back', async () => {
    const { client, clock, store, token, use } = createBed();
    await token(client({ audience: 'invoices' }));
    const old = await store.text();
    const auth = client();
    const first = await token(auth);
    await store.replace(old);
    await clock.advance(second);
    const other = client({ clientSecret: 'the-next-secret' });
    expect(await other.reset()).toMatchObject({ tokenId: undefined });
    await clock.advance(30 * second);
    expect(await use(auth, minute)).toEqual([first]);
    expect(await other.reset()).toMatchObject({ tokenId: first.id });
    await clock.advance(30 * second);
    expect((await use(auth, minute)).map(({ value }) => value)).not.toContain(first.value);
  });

  test('ends a token on its way, though the clock of the store came back from far ahead meanwhile', async () => {
    const { client, clock, endpoint, store } = createBed();
    const { answer, release } = gated(endpoint.issue);
    endpoint.next(answer);
    store.aheadMs = 30 * day;
    const underway = client().getToken();
    await settled();
    store.aheadMs = 0;
    await client().reset();
    release();
    const token = await clock.until(underway);
    expect(endpoint.requests.length).toBe(2);
    expect(await clock.until(client().getToken())).toEqual(token);
  });

  test('called twice at once is remembered as the later of both', async () => {
    const { client, clock, store, token, use } = createBed();
    const [one, two] = [client(), client()];
    await token(one);
    const gate = createGate();
    store.next('swap', answersAfter(gate.opened));
    const slow = one.reset();
    await clock.advance(100);
    const between = await token(two);
    const old = await store.text();
    await clock.advance(100);
    const again = one.reset();
    gate.open();
    await Promise.all([slow, again]);
    await store.replace(old);
    expect((await use(one, minute)).map(({ value }) => value)).not.toContain(between.value);
  });

  test('is remembered for as long as a token may live, even when it is longer than the window', async () => {
    const { client, clock, endpoint, token } = createBed();
    endpoint.otherwise(endpoint.issueWith({ expires_in: 7 * 86_400 }));
    const issuanceLimit = { windowMs: hour };
    const [one, two] = [client({ issuanceLimit }), client({ issuanceLimit })];
    const first = await token(one);
    await token(two);
    await clock.advance(3 * hour);
    await one.reset();
    await one.getUsage();
    await clock.advance(3 * hour);
    await client({ issuanceLimit }).getUsage();
    expect((await token(two)).value).not.toBe(first.value);
  });

  test('does not haunt a client that was idle until everything was forgotten', async () => {
    const { client, clock, endpoint, token } = createBed('process');
    const auth = client();
    await token(auth);
    await auth.reset();
    await token(auth);
    await auth.reset();
    await clock.advance(30 * day);
    await token(auth);
    await clock.advance(hour);
    await token(auth);
    expect(endpoint.requests.length).toBe(3);
  });

  test('of a client that never had a token still reaches the others', async () => {
    const { client, token, use } = createBed();
    const other = client();
    const first = await token(other);
    await client().reset();
    expect((await use(other, minute)).at(-1)?.value).not.toBe(first.value);
  });

  test('touches no other audience', async () => {
    const { client, token, use } = createBed();
    const [orders, invoices] = [client(), client({ audience: 'invoices' })];
    await token(orders);
    const first = await token(invoices);
    await orders.reset();
    expect(await use(invoices, minute)).toEqual([first]);
  });

  test('says which token it ended, lists it for everybody, and reports it', async () => {
    const { client, clock, token, eventsOf } = createBed();
    const auth = client({ instance: 'web' });
    const { id } = await token(auth);
    expect(await auth.reset({ reason: 'found in a log' })).toEqual({ tokenId: id, retryAt: undefined });
    const at = clock.now();
    await clock.advance(minute);
    expect(await auth.reset()).toEqual({ tokenId: undefined, retryAt: undefined });
    const other = { audience: 'orders', instance: 'web' };
    expect((await client().getUsage()).resets).toEqual([
      { ...other, at: at + minute, tokenId: undefined, reason: undefined },
      { ...other, at, tokenId: id, reason: 'found in a log' },
    ]);
    expect(eventsOf('token_reset')).toMatchObject([
      { audience: 'orders', tokenId: id, reason: 'found in a log' },
      { tokenId: undefined },
    ]);
  });

  test('names the token that other processes use, if this one has none', async () => {
    const { client, token } = createBed();
    const { id } = await token(client());
    expect(await client().reset()).toMatchObject({ tokenId: id });
  });

  test('of an audience that nobody uses is told, and leaves no trace', async () => {
    const { client, clock, endpoint, store, token, eventsOf } = createBed();
    await token(client());
    const before = await store.text();
    const mistyped = client({ audience: 'ordres' });
    expect(await mistyped.reset()).toEqual({ tokenId: undefined, retryAt: undefined });
    expect(await store.text()).toBe(before);
    endpoint.next(answering(403, '{"error":"access_denied"}'));
    await failure('ERR_CREDENTIALS_REJECTED', clock.until(mistyped.getToken()));
    await mistyped.reset({ reason: 'to be sure' });
    expect((await mistyped.getUsage()).resets).toEqual([]);
    expect(eventsOf('token_reset')).toEqual([]);
  });

  test('lists the newest twenty', async () => {
    const { client, clock, token } = createBed();
    const auth = client();
    await token(auth);
    for (let times = 0; times < 25; times++) {
      await auth.reset({ reason: `reset ${times}` });
      await clock.advance(second);
    }
    const reasons = (await auth.getUsage()).resets.map(({ reason }) => reason);
    expect(reasons).toEqual(Array.from({ length: 20 }, (_, index) => `reset ${24 - index}`));
  });

  test('is listed once, though its confirmation is lost or the store forgets', async () => {
    const { client, clock, store, token } = createBed();
    const auth = client();
    await token(auth);
    store.next('swap', losesReply);
    await clock.until(auth.reset());
    expect((await auth.getUsage()).resets).toHaveLength(1);
    await store.replace(undefined);
    expect((await auth.getUsage()).resets).toHaveLength(1);
    expect((await client().getUsage()).resets).toHaveLength(1);
  });

  test.each(['', 'x'.repeat(201), 7])('takes no reason like %j, and keeps the token', async (reason) => {
    const { client, token } = createBed();
    const auth = client();
    const first = await token(auth);
    const { problems } = await failure('ERR_CONFIG', auth.reset({ reason: reason as string }));
    expect(problems).toMatchObject([{ option: 'reason' }]);
    expect(auth.peekToken()).toBe(first);
  });

  test('without budget ends the token all the same, and says when there is another one', async () => {
    const { client, clock, endpoint, token } = createBed();
    const auth = client();
    const first = await token(auth);
    for (let spent = 1; spent < 28; spent++) await token(client({ audience: `audience ${spent}` }));
    // Two slots are kept, though the record is new.
    for (let resets = 0; resets < 2; resets++) {
      expect((await auth.getUsage()).available.reset).toBe(2 - resets);
      expect(await auth.reset()).toMatchObject({ retryAt: undefined });
      await token(auth);
    }
    expect((await auth.getUsage()).available.reset).toBe(0);
    const { tokenId, retryAt = 0 } = await auth.reset();
    expect(tokenId).toBeDefined();
    expect(tokenId).not.toBe(first.id);
    expect(retryAt).toBeGreaterThan(clock.now() + 24 * hour);
    await failure('ERR_ISSUANCE_LIMIT', clock.until(auth.getToken()));
    await clock.advance(retryAt - clock.now());
    await token(auth);
    expect(endpoint.requests.length).toBe(31);
  });

  test('while the endpoint wants to be left alone says until when', async () => {
    const { client, clock, endpoint, token } = createBed();
    const auth = client();
    await auth.invalidate(await token(auth));
    endpoint.next(answering(429, '', { 'retry-after': '3600' }));
    await token(auth);
    expect(await auth.reset()).toMatchObject({ retryAt: clock.now() + hour });
  });

  test('has slots of its own, when all else is spent', async () => {
    const { client, token, clock } = createBed('process');
    const issuanceLimit = { tokens: 12, reserve: 0 };
    const auth = client({ issuanceLimit });
    await token(auth);
    for (let issued = 1; issued < 11; issued++) await token(client({ audience: `audience ${issued}`, issuanceLimit }));
    const another = client({ audience: 'another', issuanceLimit });
    await failure('ERR_ISSUANCE_LIMIT', clock.until(another.getToken()));
    await auth.reset();
    await token(auth);
    expect(await auth.getUsage()).toMatchObject({ used: 12, remaining: 0 });
  });
});
