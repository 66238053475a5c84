import { expect, test } from 'vitest';
import { createBed, day, hour, minute } from './support/bed.ts';
import { answering, failing, gated } from './support/scripted-endpoint.ts';

test('a token with enough life left is returned without a request', async () => {
  const { client, clock, endpoint, token } = createBed();
  const auth = client();
  const first = await token(auth);
  await clock.advance(hour);
  expect(await clock.until(auth.getToken({ minLifeMs: 22 * hour }))).toBe(first);
  expect(endpoint.requests.length).toBe(1);
});

test('a token with less is renewed first, and the fleet counts the renewal as one ahead of expiry', async () => {
  const { client, clock, token, eventsOf } = createBed();
  const auth = client();
  const first = await token(auth);
  await clock.advance(2 * hour);
  const renewed = await clock.until(auth.getToken({ minLifeMs: 23 * hour }));
  expect(renewed.id).not.toBe(first.id);
  expect(renewed.expiresAt - clock.now()).toBeGreaterThan(23 * hour);
  expect(await token(auth)).toBe(renewed);
  expect(eventsOf('token_issued').map(({ reason }) => reason)).toEqual(['cold', 'refresh']);
});

test('twenty processes that want more life at once cost one token, and all get it', async () => {
  const { client, clock, endpoint, token } = createBed();
  await token(client());
  await clock.advance(2 * hour);
  const { answer, release } = gated(endpoint.issue);
  endpoint.next(answer);
  const all = Promise.all(Array.from({ length: 20 }, () => client().getToken({ minLifeMs: 23 * hour })));
  await clock.advance(minute / 6);
  release();
  const tokens = await clock.until(all);
  expect(new Set(tokens.map(({ id }) => id)).size).toBe(1);
  expect(endpoint.requests.length).toBe(2);
});

test('if the renewal is refused or fails, the present token is returned', async () => {
  const { client, clock, endpoint, token } = createBed();
  const limited = client({ issuanceLimit: { tokens: 1 } });
  const first = await token(limited);
  await clock.advance(2 * hour);
  expect(await clock.until(limited.getToken({ minLifeMs: 23 * hour }))).toBe(first);
  expect(endpoint.requests.length).toBe(1);

  const other = createBed();
  const auth = other.client();
  const present = await other.token(auth);
  await other.clock.advance(2 * hour);
  other.endpoint.otherwise(failing('ECONNREFUSED'));
  expect(await other.clock.until(auth.getToken({ minLifeMs: 23 * hour }))).toBe(present);
  expect(other.endpoint.requests.length).toBe(2);
});

test('a token that lived for less than a twentieth of its life is returned, whatever life is asked for', async () => {
  const { client, clock, endpoint, token } = createBed();
  const auth = client();
  const first = await token(auth);
  await clock.advance(hour);
  expect(await clock.until(auth.getToken({ minLifeMs: 2 * day }))).toBe(first);
  await clock.advance(15 * minute);
  expect(await clock.until(auth.getToken({ minLifeMs: 2 * day }))).not.toBe(first);
  expect(endpoint.requests.length).toBe(2);
});

test('a life that no token has, asked for all day, costs a token for each twentieth of a life', async () => {
  const { client, clock, endpoint, token } = createBed();
  const auth = client({ issuanceLimit: { tokens: 150 } });
  await token(auth);
  await clock.advance(2 * day);
  await token(auth);
  const before = endpoint.requests.length;
  for (let quarters = 0; quarters < 96; quarters++) {
    await clock.advance(15 * minute);
    await clock.until(auth.getToken({ minLifeMs: day }));
  }
  expect(endpoint.requests.length - before).toBeLessThanOrEqual(20);
});

test('a life that a young token does not have leaves the renewals ahead of expiry to the fleet', async () => {
  const { client, clock, endpoint, token, use } = createBed();
  const auth = client();
  await token(auth);
  await clock.advance(5 * minute);
  await clock.until(auth.getToken({ minLifeMs: day }));
  await use(auth, 23.5 * hour, minute);
  expect((await token(auth)).expiresAt - clock.now()).toBeGreaterThan(19 * hour);
  expect(endpoint.requests.length).toBe(2);
});

test('a signal ends the wait of its caller alone', async () => {
  const { client, clock, endpoint, token } = createBed();
  const auth = client();
  const first = await token(auth);
  await clock.advance(2 * hour);
  const { answer, release } = gated(endpoint.issue);
  endpoint.next(answer);
  const controller = new AbortController();
  const asked = auth.getToken({ minLifeMs: 23 * hour, signal: controller.signal });
  const other = auth.getToken({ minLifeMs: 23 * hour });
  await clock.advance(0);
  const reason = new Error('enough');
  controller.abort(reason);
  await expect(asked).rejects.toBe(reason);
  release();
  expect((await clock.until(other)).id).not.toBe(first.id);
});

test('its failure does not reach a caller whose token was rejected meanwhile and can still be served', async () => {
  const { client, clock, endpoint, token } = createBed();
  const auth = client();
  const first = await token(auth);
  await clock.advance(2 * hour);
  const { answer, release } = gated(answering(503));
  endpoint.next(answer);
  const asked = auth.getToken({ minLifeMs: 23 * hour });
  await clock.advance(0);
  await auth.invalidate(first);
  const other = auth.getToken();
  await clock.advance(0);
  release();
  expect(await clock.until(Promise.all([asked, other]))).toEqual([first, first]);
});

test('an endpoint that returns one token until it expires is not taken for a cache, and the longer token stays', async () => {
  const { client, clock, endpoint, token, eventsOf } = createBed();
  const auth = client();
  endpoint.next(endpoint.issueWith({ access_token: 'one-token', expires_in: 86_400 }));
  await token(auth);
  await clock.advance(2 * hour);
  endpoint.otherwise(endpoint.issueWith({ access_token: 'one-token', expires_in: 22 * 3_600 }));
  expect((await clock.until(auth.getToken({ minLifeMs: 23 * hour }))).value).toBe('one-token');
  expect(eventsOf('token_request_failed')).toEqual([]);
  endpoint.otherwise(endpoint.issueWith({ access_token: 'a-short-one', expires_in: 3_600 }));
  expect((await clock.until(auth.getToken({ minLifeMs: 23 * hour }))).value).toBe('one-token');
  expect((await token(auth)).value).toBe('one-token');
});

test('a signal that is none, and a life that is no number, are told before anything is requested', async () => {
  const { client, endpoint } = createBed();
  const auth = client();
  for (const [wrong, message] of [
    [{ signal: new AbortController() }, 'signal must be an AbortSignal'],
    [{ minLifeMs: '10m' }, 'minLifeMs must be a number of milliseconds'],
    [{ minLifeMs: Number.NaN }, 'minLifeMs must be a number of milliseconds'],
  ] as const) {
    await expect(auth.getToken(wrong as never)).rejects.toMatchObject({
      code: 'ERR_CONFIG',
      message: expect.stringContaining(message),
    });
  }
  expect(endpoint.requests.length).toBe(0);
});
