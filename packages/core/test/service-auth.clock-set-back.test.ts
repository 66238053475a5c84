import { describe, expect, test } from 'vitest';
import type { ServiceAuth, ServiceAuthOptions } from '../src/index.ts';
import { type Bed, createBed, day, failure, hour, minute, second } from './support/bed.ts';
import { fails } from './support/faulty-store.ts';
import { settled } from './support/manual-clock.ts';
import { answering, silent } from './support/scripted-endpoint.ts';

/** The lead of the store's clock before it is corrected. */
const aheads = [2 * minute, 9 * hour, 27 * hour];

interface SetBackBed extends Bed {
  /** The remaining life of a client's token, by the endpoint that issued it. */
  lifeOf(auth: ServiceAuth): Promise<number>;
}

function bedAhead(aheadMs: number, lifetimeMs = day): SetBackBed {
  const bed = createBed();
  bed.store.aheadMs = aheadMs;
  const endsAt = new Map<string, number>();
  bed.endpoint.otherwise(async (request) => {
    const answer = await bed.endpoint.issueWith({ expires_in: lifetimeMs / second })(request);
    endsAt.set(JSON.parse(await answer.body).access_token, bed.clock.monotonic() + lifetimeMs);
    return answer;
  });
  const lifeOf = async (auth: ServiceAuth) => {
    const { value } = await bed.token(auth);
    return (endsAt.get(value) ?? Number.NaN) - bed.clock.monotonic();
  };
  return { ...bed, lifeOf };
}

/** The time until a new process, one every 10 seconds, has a token. */
async function servedAfter({ client, clock }: Bed, options?: Partial<ServiceAuthOptions>): Promise<number> {
  const from = clock.monotonic();
  for (;;) {
    const served = await clock.until(
      client(options)
        .getToken()
        .then(
          () => true,
          () => false,
        ),
    );
    if (served || clock.monotonic() - from > 2 * day) return clock.monotonic() - from;
    await clock.advance(10 * second);
  }
}

describe.each(aheads)('a store whose clock was %i ms ahead and is put right', (aheadMs) => {
  test('ends a back-off when it would have ended', async () => {
    const bed = bedAhead(aheadMs);
    bed.endpoint.next(answering(503));
    await failure('ERR_TOKEN_ENDPOINT', bed.token(bed.client()));
    bed.store.aheadMs = 0;
    expect(await servedAfter(bed)).toBeLessThanOrEqual(20 * second);
  });

  test('ends a pause that the provider asked for when it would have ended', async () => {
    const bed = bedAhead(aheadMs);
    bed.endpoint.next(answering(429, '', { 'retry-after': '7200' }));
    const auth = bed.client();
    await failure('ERR_RATE_LIMITED', bed.token(auth));
    bed.store.aheadMs = 0;
    const error = await failure('ERR_RATE_LIMITED', bed.token(bed.client()));
    expect((error.retryAt ?? 0) - bed.clock.now()).toBeGreaterThan(2 * hour - minute);
    expect(await servedAfter(bed)).toBeLessThanOrEqual(2 * hour + 10 * second);
  });

  test('ends the lease of a process that was killed', async () => {
    const bed = bedAhead(aheadMs);
    const { clock, endpoint } = bed;
    endpoint.next(silent);
    // Its timers never fire.
    const killed = { now: clock.now, monotonic: clock.monotonic, setTimer: () => () => {} };
    void bed.client({ clock: killed }).getToken();
    while (endpoint.requests.length === 0) await settled();
    bed.store.aheadMs = 0;
    expect(await servedAfter(bed)).toBeLessThanOrEqual(2 * minute);
  });

  test('gives no expired token to processes that start later, and asks for one more at most', async () => {
    const bed = bedAhead(aheadMs);
    await bed.token(bed.client());
    bed.store.aheadMs = 0;
    for (let hours = 0; hours < 20; hours += 1) {
      await bed.clock.advance(minute);
      expect(await bed.lifeOf(bed.client())).toBeGreaterThanOrEqual(minute);
      await bed.clock.advance(hour - minute);
    }
    expect(bed.endpoint.issued).toBeLessThanOrEqual(2);
  });

  test('keeps the token, with the life that it has, if a process that lives on measured it', async () => {
    const bed = bedAhead(aheadMs);
    const { client, clock, endpoint, lifeOf, store, token, use } = bed;
    const auth = client();
    const first = await token(auth);
    await use(auth, hour);
    store.aheadMs = 0;
    await use(auth, minute);
    endpoint.otherwise(answering(401));
    await clock.advance(22.9 * hour);
    const last = client();
    expect((await token(last)).value).toBe(first.value);
    expect(await lifeOf(last)).toBeGreaterThan(0);
    await clock.advance(5 * minute);
    await failure('ERR_CREDENTIALS_REJECTED', token(client()));
    await failure('ERR_CREDENTIALS_REJECTED', token(last));
  });

  test('frees no budget early, and all of it a day and a few hours later at the latest', async () => {
    const bed = bedAhead(aheadMs, minute);
    const options = { issuanceLimit: { tokens: 4, reserve: 0 } };
    for (let count = 0; count < 4; count += 1) {
      await bed.token(bed.client(options));
      await bed.clock.advance(hour);
    }
    bed.store.aheadMs = 0;
    await failure('ERR_ISSUANCE_LIMIT', bed.token(bed.client(options)));
    await bed.clock.advance(21 * hour);
    const { retryAt } = await failure('ERR_ISSUANCE_LIMIT', bed.token(bed.client(options)));
    await bed.clock.advance(retryAt - bed.clock.now());
    await bed.token(bed.client(options));
    expect(bed.clock.monotonic()).toBeLessThan(4 * hour + 25.5 * hour);
  });

  test('enters a token with the life that it has left, though the answer came before and was entered afterwards', async () => {
    const bed = bedAhead(aheadMs, 2 * hour);
    const { client, clock, lifeOf, store, token } = bed;
    const auth = client();
    await token(client({ audience: 'other' }));
    store.next('swap', (call) => call(), fails, fails);
    const before = await token(auth);
    store.aheadMs = 0;
    // Another process writes first, so that the outcome meets a record that has started again.
    await clock.until(client({ audience: 'third' }).getToken());
    await clock.advance(10 * minute);
    expect((await token(client())).value).toBe(before.value);
    for (let passed = 10; passed < 300; passed += 10) {
      await clock.advance(10 * minute);
      expect(await lifeOf(client())).toBeGreaterThan(0);
    }
  });
});

test('a process that reads the record after hours, and before anybody writes it, shortens the life of the token there, and others follow it', async () => {
  const bed = bedAhead(3 * hour);
  const { client, clock, endpoint, store, token } = bed;
  const measuring = client();
  const first = await token(measuring);
  store.aheadMs = 0;
  // No process read the record while the clock was behind it, so others can't know.
  await clock.advance(10 * hour);
  await token(measuring);
  const blind = client();
  expect((await token(blind)).value).toBe(first.value);
  endpoint.otherwise(answering(401));
  await clock.advance(14 * hour - minute);
  await failure('ERR_CREDENTIALS_REJECTED', token(blind));
});
