import { describe, expect, test } from 'vitest';
import { createBed, day, failure, hour, minute, second } from './support/bed.ts';
import { settled } from './support/manual-clock.ts';
import { answering, failing, gated, silent } from './support/scripted-endpoint.ts';

/** Short of the earliest, and beyond the latest moment at which a token of 24 hours is renewed ahead of its expiry. */
const early = 0.8 * day - 2 * minute;
const late = 0.9 * day;

describe('renewal ahead of expiry', () => {
  test('happens between 80 and 90 % of life, at a moment drawn for each token', async () => {
    const renewedAfter: number[] = [];
    for (let round = 0; round < 12; round++) {
      const { client, clock, endpoint, use, token } = createBed();
      const auth = client();
      await token(auth);
      await clock.advance(early);
      await use(auth, 10 * second);
      expect(endpoint.requests.length).toBe(1);
      while (endpoint.requests.length === 1) await use(auth, 10 * minute, 10 * minute);
      renewedAfter.push(clock.monotonic() / day);
    }
    expect(Math.min(...renewedAfter)).toBeGreaterThan(0.79);
    expect(Math.max(...renewedAfter)).toBeLessThan(0.92);
    expect(Math.max(...renewedAfter) - Math.min(...renewedAfter)).toBeGreaterThan(0.02);
  });

  test('goes on in the background: the old token is served until the new one is there, and one request is sent', async () => {
    const { client, clock, endpoint, token, use, eventsOf } = createBed();
    const auth = client();
    const first = await token(auth);
    const { answer, release } = gated(endpoint.issue);
    endpoint.next(answer);
    await clock.advance(late);
    const served = await use(auth, 10 * second, 100);
    expect(served).toEqual([first]);
    expect(endpoint.requests.length).toBe(2);
    release();
    await settled();
    const second_ = await token(auth);
    expect(second_.id).not.toBe(first.id);
    expect(endpoint.requests.length).toBe(2);
    expect(eventsOf('token_issued').map(({ reason }) => reason)).toEqual(['cold', 'refresh']);
  });

  test('does not delay even a caller that must revalidate first', async () => {
    const { client, clock, endpoint, token } = createBed();
    const auth = client();
    const first = await token(auth);
    await clock.advance(late);
    endpoint.next(silent);
    expect(await auth.getToken()).toBe(first);
    await settled();
    expect(endpoint.requests.length).toBe(2);
  });

  test('is not repeated by a hundred callers while the endpoint is silent, nor at once when it fails', async () => {
    const { client, clock, endpoint, token, use } = createBed();
    const auth = client();
    const first = await token(auth);
    endpoint.next(silent);
    await clock.advance(late);
    expect(await use(auth, 29 * second, 300)).toEqual([first]);
    expect(endpoint.requests.length).toBe(2);
    endpoint.next(answering(500), failing('ECONNREFUSED'));
    expect(await use(auth, 2 * minute, second)).toHaveLength(2);
    expect(endpoint.requests.length).toBe(5);
  });

  test('that the budget denies goes unnoticed, but is reported', async () => {
    const { client, clock, endpoint, token, use, eventsOf } = createBed();
    const auth = client({ issuanceLimit: { tokens: 2, reserve: 0 } });
    const first = await token(auth);
    await clock.advance(late);
    expect(await use(auth, 5 * minute)).toEqual([first]);
    expect(endpoint.requests.length).toBe(1);
    const refused = eventsOf('issuance_refused');
    expect(refused).toMatchObject([{ reason: 'refresh', limit: 2, used: 1 }]);
    expect(refused[0]?.retryAt).toBeGreaterThan(clock.now());
  });

  test('in a fleet is done by one, and the others adopt what it got', async () => {
    const { client, clock, endpoint, token, use, eventsOf } = createBed();
    const fleet = Array.from({ length: 5 }, () => client());
    for (const auth of fleet) await token(auth);
    expect(endpoint.requests.length).toBe(1);
    await clock.advance(late);
    await Promise.all(fleet.map((auth) => auth.getToken()));
    await settled();
    await clock.advance(30 * second);
    const tokens = await Promise.all(fleet.map((auth) => token(auth)));
    expect(new Set(tokens.map(({ value }) => value)).size).toBe(1);
    expect(endpoint.requests.length).toBe(2);
    expect(eventsOf('token_adopted')).toHaveLength(4 + 4);
    expect(await use(fleet[0] ?? client(), hour)).toHaveLength(1);
  });

  test('that brings no longer life keeps the cached token, and is not repeated before its margin', async () => {
    const { client, clock, endpoint, token, use } = createBed();
    const auth = client();
    const first = await token(auth);
    endpoint.otherwise(endpoint.issueWith({ expires_in: 600 }));
    await clock.advance(late);
    expect(await use(auth, 2 * hour, minute)).toEqual([first]);
    expect(endpoint.requests.length).toBe(2);
  });

  test('by an endpoint that returns the same token until it expires costs one request, not one per call', async () => {
    const { client, clock, endpoint, token, use } = createBed();
    const auth = client();
    const first = await token(auth);
    endpoint.otherwise(() => {
      const left = Math.round((first.expiresAt - clock.now()) / second);
      return endpoint.issueWith({ access_token: first.value, expires_in: left })({} as never);
    });
    await clock.advance(late);
    const tokens = await use(auth, 2 * hour, minute);
    expect(new Set(tokens.map(({ value }) => value))).toEqual(new Set([first.value]));
    expect(endpoint.requests.length).toBe(2);
  });
});

describe('expiry', () => {
  test('leaves a margin of a minute', async () => {
    const { client, clock, endpoint, token } = createBed();
    const auth = client();
    endpoint.next(endpoint.issue, answering(429, '', { 'retry-after': '90000' }));
    const first = await token(auth);
    await clock.advance(day - minute - 1);
    expect(await auth.getToken()).toBe(first);
    await clock.advance(1);
    expect(auth.peekToken()).toBeUndefined();
    await failure('ERR_RATE_LIMITED', auth.getToken());
  });

  test('is counted from before the request was sent', async () => {
    const { client, clock, endpoint } = createBed();
    const { answer, release } = gated(endpoint.issue);
    endpoint.next(answer);
    const auth = client();
    const promise = auth.getToken();
    await clock.advance(25 * second);
    release();
    const first = await promise;
    await clock.advance(day - minute - 25 * second - 1);
    expect(auth.peekToken() ?? (await auth.getToken())).toBe(first);
    await clock.advance(1);
    expect(await clock.until(auth.getToken())).not.toBe(first);
  });

  test('without callers ahead of it is noticed by the next caller, who waits for the new token', async () => {
    const { client, clock, endpoint, token, eventsOf } = createBed();
    const auth = client();
    const first = await token(auth);
    await clock.advance(3 * day);
    expect((await token(auth)).id).not.toBe(first.id);
    expect(endpoint.requests.length).toBe(2);
    expect(eventsOf('token_issued').map(({ reason }) => reason)).toEqual(['cold', 'expired']);
  });

  test('is bridged by an outage shorter than what is left, and the first failure is the one after it', async () => {
    const { client, clock, endpoint, token, use } = createBed();
    const auth = client();
    const first = await token(auth);
    endpoint.otherwise(answering(503));
    await clock.advance(late);
    expect(await use(auth, 2 * hour, 5 * minute)).toEqual([first]);
    await clock.advance(hour);
    expect(await failure('ERR_TOKEN_ENDPOINT', clock.until(auth.getToken()))).toMatchObject({ endpointStatus: 503 });
    endpoint.otherwise(endpoint.issue);
    await clock.advance(160 * minute);
    expect((await token(auth)).id).not.toBe(first.id);
  });
});

describe('short lives', () => {
  test('a token of 30 seconds is served until a tenth of its life is left, and never renewed early', async () => {
    const { client, clock, endpoint, token, eventsOf } = createBed();
    endpoint.otherwise(endpoint.issueWith({ expires_in: 30 }));
    const auth = client();
    const first = await token(auth);
    expect(eventsOf('token_issued')[0]?.warnings).toEqual(['lifetime_short']);
    for (let elapsed = 0; elapsed < 26; elapsed++) {
      await clock.advance(second);
      expect(await auth.getToken()).toBe(first);
    }
    expect(endpoint.requests.length).toBe(1);
    await clock.advance(second);
    expect(await token(auth)).not.toBe(first);
    expect(endpoint.requests.length).toBe(2);
  });

  test('a token of an hour is renewed ahead', async () => {
    const { client, endpoint, token, use } = createBed();
    endpoint.otherwise(endpoint.issueWith({ expires_in: 3_600 }));
    const auth = client();
    await token(auth);
    expect(await use(auth, 46 * minute)).toHaveLength(1);
    expect(await use(auth, 10 * minute)).toHaveLength(2);
    expect(endpoint.requests.length).toBe(2);
  });

  test('a token that is dead on arrival is an error, and does not replace a living one', async () => {
    const { client, clock, endpoint, token, use } = createBed();
    const auth = client();
    const first = await token(auth);
    const { answer, release } = gated(endpoint.issueWith({ expires_in: 1 }));
    endpoint.next(answer);
    await clock.advance(late);
    await use(auth, 5 * second, second);
    release();
    await settled();
    expect(await auth.getToken()).toBe(first);
    expect(endpoint.requests.length).toBe(2);

    const cold = createBed();
    const slow = gated(cold.endpoint.issueWith({ expires_in: 1 }));
    cold.endpoint.next(slow.answer);
    const promise = cold.client().getToken();
    await cold.clock.advance(5 * second);
    slow.release();
    expect(await failure('ERR_TOKEN_RESPONSE', cold.clock.until(promise))).toMatchObject({
      reason: 'expires_in',
      message: expect.stringContaining(
        'The token expired before it arrived. Check the expires_in that the token endpoint sends.',
      ),
    });
  });
});
