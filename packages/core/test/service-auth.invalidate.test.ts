import { describe, expect, test } from 'vitest';
import { createAccessToken } from '../src/contract/access-token.ts';
import { createBed, day, hour, minute, second } from './support/bed.ts';
import { answersAfter, fails } from './support/faulty-store.ts';
import { createGate } from './support/gate.ts';
import { settled } from './support/manual-clock.ts';
import { answering, gated } from './support/scripted-endpoint.ts';

describe('invalidate', () => {
  test('leads to one renewal, for all who wait', async () => {
    const { client, clock, endpoint, token, eventsOf } = createBed();
    const auth = client();
    const first = await token(auth);
    await clock.advance(hour);
    await Promise.all(Array.from({ length: 20 }, () => auth.invalidate(first)));
    expect(auth.peekToken()).toBeUndefined();
    const tokens = await clock.until(Promise.all(Array.from({ length: 20 }, () => auth.getToken())));
    expect(new Set(tokens).size).toBe(1);
    expect(tokens[0]?.value).not.toBe(first.value);
    expect(endpoint.requests.length).toBe(2);
    expect(eventsOf('token_issued').map(({ reason }) => reason)).toEqual(['cold', 'rejected']);
    expect(eventsOf('token_rejected')[0]).toMatchObject({ tokenId: first.id, outcome: 'renew' });
  });

  test('of a token that is no longer in use changes nothing', async () => {
    const { client, clock, endpoint, token, eventsOf } = createBed();
    const auth = client();
    const first = await token(auth);
    await clock.advance(hour);
    await auth.invalidate(first);
    const next = await token(auth);
    for (let late = 0; late < 100; late++) await auth.invalidate(first);
    expect(await auth.getToken()).toBe(next);
    expect(endpoint.requests.length).toBe(2);
    expect(eventsOf('token_rejected').at(-1)).toMatchObject({ outcome: 'replaced' });
  });

  test('compares what was sent, not the object that carried it', async () => {
    const { client, token } = createBed();
    const auth = client();
    const first = await token(auth);
    await auth.invalidate(createAccessToken('copy', 'some-other-token', 0, 0));
    expect(await auth.getToken()).toBe(first);
    await auth.invalidate(createAccessToken('copy', first.value, 0, 0));
    expect(auth.peekToken()).toBeUndefined();
  });

  test.each([undefined, null, 'the text of a token', {}])('of %j changes nothing', async (nothing) => {
    const { client, endpoint, token } = createBed();
    const auth = client();
    const first = await token(auth);
    await auth.invalidate(nothing as never);
    expect(await auth.getToken()).toBe(first);
    expect(endpoint.requests.length).toBe(1);
  });

  test('before the first token, and after close, is harmless', async () => {
    const { client, token } = createBed();
    const auth = client();
    const foreign = createAccessToken('id', 'value', 0, 0);
    await auth.invalidate(foreign);
    await token(auth);
    await auth.close();
    await auth.invalidate(foreign);
  });

  test('adopts a newer token of the fleet at no cost', async () => {
    const { client, clock, endpoint, token } = createBed();
    const [one, two] = [client(), client()];
    const first = await token(one);
    const same = await token(two);
    await clock.advance(hour);
    await one.getToken();
    await two.getToken();
    await settled();
    await one.invalidate(first);
    const next = await token(one);
    await two.invalidate(same);
    expect((await token(two)).value).toBe(next.value);
    expect(endpoint.requests.length).toBe(2);
  });

  test('joins a renewal that is under way', async () => {
    const { client, clock, endpoint, token } = createBed();
    const auth = client();
    const first = await token(auth);
    await clock.advance(0.9 * day);
    const { answer, release } = gated(endpoint.issue);
    endpoint.next(answer);
    await auth.getToken();
    await clock.advance(second);
    await auth.getToken();
    await settled();
    expect(endpoint.requests.length).toBe(2);
    await auth.invalidate(first);
    const promise = auth.getToken();
    release();
    expect((await clock.until(promise)).value).not.toBe(first.value);
    expect(endpoint.requests.length).toBe(2);
  });

  test('a token that was just renewed because of a 401 is not renewed again within a minute, but served on', async () => {
    const { client, clock, endpoint, token, eventsOf } = createBed();
    const auth = client();
    await auth.invalidate(await token(auth));
    const next = await token(auth);
    await clock.advance(59 * second);
    await auth.invalidate(next);
    expect(await token(auth)).toBe(next);
    await auth.invalidate(next);
    expect(await auth.getToken()).toBe(next);
    expect(eventsOf('token_rejected').at(-1)).toMatchObject({ outcome: 'kept' });
    expect(endpoint.requests.length).toBe(2);
    await clock.advance(second);
    await auth.invalidate(next);
    expect(await token(auth)).not.toBe(next);
    expect(endpoint.requests.length).toBe(3);
  });

  test('by an API that always answers 401 costs a few tokens a day, in the whole fleet', async () => {
    const { client, clock, endpoint, token } = createBed('process');
    const fleet = Array.from({ length: 3 }, () => client());
    const issuedBy: Record<string, number> = {};
    for (let elapsed = 0; elapsed < 24 * hour; elapsed += 2 * minute) {
      for (const auth of fleet) await auth.invalidate(await token(auth));
      await clock.advance(2 * minute);
      if (elapsed === 10 * minute || elapsed === 2 * hour) issuedBy[elapsed / minute] = endpoint.issued;
    }
    expect(issuedBy[10]).toBeLessThanOrEqual(5);
    expect(issuedBy[120]).toBeLessThanOrEqual(9);
    expect(endpoint.issued).toBeLessThanOrEqual(31);
    expect(endpoint.issued).toBeGreaterThan(20);
  });

  test('of a token that the API had accepted renews at once, however often, until a third of the usable tokens is spent', async () => {
    const { client, clock, endpoint, token, eventsOf } = createBed('process');
    const auth = client();
    for (let death = 0; death < 40; death++) {
      auth.reportAccepted?.(await token(auth));
      await clock.advance(10 * minute);
      await auth.invalidate(await token(auth));
    }
    await token(auth);
    expect(endpoint.issued).toBe(41);
    const { issuances } = await auth.getUsage();
    expect(issuances.filter(({ died }) => died)).toHaveLength(40);
    auth.reportAccepted?.(await token(auth));
    await clock.advance(10 * minute);
    await auth.invalidate(await token(auth));
    await token(auth);
    expect(endpoint.issued).toBe(41);
    expect(eventsOf('token_rejected').at(-1)).toMatchObject({ outcome: 'renew' });
  });

  test('of a token that dies each hour never waits where there is no limit', async () => {
    const { client, clock, endpoint, token } = createBed();
    const auth = client({ issuanceLimit: 'unlimited' });
    for (let death = 0; death < 100; death++) {
      auth.reportAccepted?.(await token(auth));
      await clock.advance(10 * minute);
      await auth.invalidate(await token(auth));
    }
    await token(auth);
    expect(endpoint.issued).toBe(101);
  });

  test('holds up a caller that did not see the 401 for a second at most', async () => {
    const { client, clock, endpoint, token } = createBed();
    const auth = client();
    const first = await token(auth);
    await clock.advance(minute);
    const { answer, release } = gated(endpoint.issue);
    endpoint.next(answer);
    await auth.invalidate(first);
    const reporter = auth.getToken();
    await settled();
    const bystander = auth.getToken();
    const from = clock.monotonic();
    expect(await clock.until(bystander)).toBe(first);
    expect(clock.monotonic() - from).toBe(second);
    release();
    expect(await clock.until(reporter)).not.toBe(first);
    expect(await auth.getToken()).toBe(await reporter);
  });

  test('when no other token is available, the rejected one is still served', async () => {
    const { client, clock, store, endpoint, token } = createBed();
    const auth = client();
    const first = await token(auth);
    endpoint.next(answering(503));
    await auth.invalidate(first);
    expect(await token(auth)).toBe(first);
    await clock.advance(minute);
    store.always('both', fails);
    await auth.invalidate(first);
    expect(await token(auth)).toBe(first);
    store.always('both');
    await clock.advance(hour);
    await auth.invalidate(first);
    expect((await token(auth)).value).not.toBe(first.value);
  });

  test('a second 401 within a minute is no refusal for the limit: the renewal waits, and the budget has room', async () => {
    const { client, clock, token, eventsOf } = createBed();
    const auth = client();
    await auth.invalidate(await token(auth));
    const second = await token(auth);
    await clock.advance(20_000);
    await auth.invalidate(second);
    expect(await token(auth)).toBe(second);
    expect(eventsOf('token_rejected').map(({ outcome }) => outcome)).toEqual(['renew', 'renew']);
    expect(eventsOf('issuance_refused')).toEqual([]);
    const { holds, availableNow } = await auth.getUsage();
    expect(holds).toMatchObject([{ kind: 'rejections' }]);
    expect(availableNow).toBeGreaterThan(0);
  });

  test('when no other token is available for ten minutes, no process asks for one until then', async () => {
    const { client, clock, endpoint, token, use, eventsOf } = createBed();
    const auth = client();
    const first = await token(auth);
    endpoint.next(answering(429, '', { 'retry-after': '600' }));
    await auth.invalidate(first);
    expect(await token(auth)).toBe(first);
    await use(auth, 9 * minute);
    await auth.invalidate(first);
    expect(eventsOf('token_rejected').map(({ outcome }) => outcome)).toEqual(['renew', 'kept']);
    expect(auth.peekToken()).toBe(first);
    await clock.advance(minute);
    await auth.invalidate(first);
    expect((await token(auth)).value).not.toBe(first.value);
    expect(eventsOf('token_rejected').at(-1)).toMatchObject({ outcome: 'renew' });
    expect(eventsOf('issuance_refused')).toEqual([]);
  });

  test('the 401s to a token and to its successor, in turn, are reported once for each', async () => {
    const { client, token, eventsOf } = createBed();
    const auth = client();
    const first = await token(auth);
    await auth.invalidate(first);
    const second = await token(auth);
    for (let count = 0; count < 10; count++) {
      await auth.invalidate(first);
      await auth.invalidate(second);
    }
    expect(eventsOf('token_rejected').map(({ tokenId, outcome }) => [tokenId, outcome])).toEqual([
      [first.id, 'renew'],
      [first.id, 'replaced'],
      [second.id, 'renew'],
    ]);
  });

  test('during a slow read: the read does not make the token usable again', async () => {
    const { client, clock, endpoint, store, token } = createBed();
    const auth = client();
    const first = await token(auth);
    await clock.advance(26 * second);
    const gate = createGate();
    store.next('load', answersAfter(gate.opened));
    expect(await auth.getToken()).toBe(first);
    await auth.invalidate(first);
    gate.open();
    await settled();
    expect(auth.peekToken()).toBeUndefined();
    expect((await token(auth)).value).not.toBe(first.value);
    expect(endpoint.requests.length).toBe(2);
  });

  test('of a token that has expired meanwhile is an ordinary renewal', async () => {
    const { client, clock, endpoint, token } = createBed();
    const auth = client();
    const first = await token(auth);
    await clock.advance(2 * day);
    await auth.invalidate(first);
    expect((await token(auth)).value).not.toBe(first.value);
    expect(endpoint.requests.length).toBe(2);
  });
});
