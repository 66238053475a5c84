import { byDay } from '@service-auth/test-tools/night';
import { describe, expect, test } from 'vitest';
import { errorPage } from '../src/contract/error-page.ts';
import { createUsageReader, type ServiceAuth, type ServiceAuthOptions } from '../src/index.ts';
import { failuresInRow } from '../src/record/stored-record.ts';
import { type Bed, createBed, day, failure, hour, minute, second } from './support/bed.ts';
import { settled } from './support/manual-clock.ts';
import { gated, silent } from './support/scripted-endpoint.ts';
import { seedRandom } from './support/seeded-random.ts';

seedRandom();

/** Starts a process that asks for a token. Returns the function that kills it: none of its timers fires any more. */
function begun({ client, clock }: Bed, options?: Partial<ServiceAuthOptions>): () => void {
  let alive = true;
  const auth = client({
    clock: {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      setTimer: (callback, delayMs, how) => clock.setTimer(() => alive && callback(), delayMs, how),
    },
    ...options,
  });
  auth.getToken().catch(() => {});
  return () => {
    alive = false;
  };
}

/** A process that asks for a token and is killed after `livesMs`. */
async function mortal(bed: Bed, livesMs: number, options?: Partial<ServiceAuthOptions>): Promise<void> {
  const kill = begun(bed, options);
  await bed.clock.advance(livesMs);
  kill();
}

/** A fleet whose token has ended, and an endpoint that issues tokens and answers too late for everybody. */
async function dyingFleet(durability: 'durable' | 'replicated'): Promise<Bed> {
  const bed = createBed(durability);
  await bed.token(bed.client());
  await bed.clock.advance(29 * hour);
  bed.endpoint.otherwise(silent);
  return bed;
}

/** Processes die until the fleet waits after it. Returns how many did. */
async function dyingUntilHeld(bed: Bed): Promise<number> {
  const { clock, client, endpoint } = bed;
  const { length } = endpoint.requests;
  while ((await client().getUsage()).holds.length === 0) {
    await mortal(bed, second);
    await clock.advance(minute);
  }
  return endpoint.requests.length - length;
}

/** Calls getToken() until it succeeds, each time at the `retryAt` of the error. Returns the time that this took. */
async function served({ clock }: Bed, auth: ServiceAuth): Promise<number> {
  const begunAt = clock.monotonic();
  for (;;) {
    const error = await clock.until(auth.getToken()).then(
      () => undefined,
      (reason: { retryAt: number }) => reason,
    );
    if (!error) return clock.monotonic() - begunAt;
    await clock.advance(Math.max(second, error.retryAt - clock.now()));
  }
}

describe('processes that die while they ask for a token', () => {
  const paces = [
    ['durable', undefined, 3 * second, 4 * second, 40],
    ['replicated', undefined, 3 * second, 4 * second, 30],
    ['durable', undefined, 20 * second, 3 * minute, 40],
    ['replicated', 5 * second, 3 * second, 4 * second, 30],
    ['replicated', second, second, second, 30],
  ] as const;

  test.each(byDay(paces, (pace) => pace === paces[1] || pace === paces[2]))(
    '%s store, timeoutMs %s, killed after %i ms, one every %i ms: at most %i tokens in three hours, then a token within two hours',
    async (durability, timeoutMs, livesMs, everyMs, most) => {
      const bed = await dyingFleet(durability);
      const { clock, client, endpoint } = bed;
      const before = endpoint.requests.length;
      for (const until = clock.monotonic() + 3 * hour; clock.monotonic() < until; ) {
        await mortal(bed, livesMs, { timeoutMs });
        await clock.advance(everyMs - livesMs);
      }
      const sent = endpoint.requests.length - before;
      expect(sent).toBeGreaterThan(5);
      expect(sent).toBeLessThanOrEqual(most);
      endpoint.otherwise(endpoint.issue);
      expect(await served(bed, client())).toBeLessThanOrEqual(2 * hour);
    },
    120_000,
  );

  test('of several audiences are paced together', async () => {
    const bed = await dyingFleet('durable');
    const { clock, endpoint } = bed;
    const before = endpoint.requests.length;
    for (let count = 0; clock.monotonic() < 32 * hour; count++) {
      await mortal(bed, 3 * second, { audience: `audience ${count % 3}` });
    }
    expect(endpoint.requests.length - before).toBeLessThanOrEqual(40);
  });

  const losses = [
    ['durable', 60, 5, 2],
    // Three quarters are lost of the few, so some have to wait until tokens leave the window.
    ['replicated', 56, 75, 22],
  ] as const;

  test.each(byDay(losses, ([durability]) => durability === 'durable'))(
    'of twelve audiences beside one that works, %s store: %i tokens are lost in six hours at most, the one never waits for longer than %i minutes, and all have a token %i hours after the end',
    async (durability, most, minutes, hours) => {
      const bed = await dyingFleet(durability);
      const { clock, client, endpoint } = bed;
      const short = endpoint.issueWith({ expires_in: 2_400 });
      let [lost, waitMs] = [0, 0];
      endpoint.otherwise((request) => {
        if (request.body.includes('"works"')) return short(request);
        lost += 1;
        return silent(request);
      });
      const works = client({ audience: 'works' });
      const audiences = Array.from({ length: 12 }, (_, index) => `dies ${index}`);
      for (const until = clock.monotonic() + 6 * hour; clock.monotonic() < until; ) {
        const kills = audiences.map((audience) => begun(bed, { audience }));
        waitMs = Math.max(waitMs, await served(bed, works));
        await clock.advance(20 * second);
        for (const kill of kills) kill();
        await clock.advance(10 * second);
      }
      expect(waitMs).toBeLessThanOrEqual(minutes * minute);
      expect(lost).toBeGreaterThan(audiences.length);
      expect(lost).toBeLessThanOrEqual(most);

      endpoint.otherwise(endpoint.issue);
      const endedAt = clock.monotonic();
      for (const audience of audiences) await served(bed, client({ audience }));
      expect(clock.monotonic() - endedAt).toBeLessThanOrEqual(hours * hour);
    },
    120_000,
  );

  test('for days leave half of the budget', async () => {
    const bed = await dyingFleet('replicated');
    const { clock, client } = bed;
    let used = 0;
    for (const until = clock.monotonic() + 3 * day; clock.monotonic() < until; await clock.advance(5 * minute)) {
      await mortal(bed, 3 * second);
      used = Math.max(used, (await client().getUsage()).used);
    }
    expect(used).toBeGreaterThan(25);
    expect(used).toBeLessThanOrEqual(37);
  });

  test('once or twice in a healthy fleet delay other processes only by their lease', async () => {
    const bed = await dyingFleet('durable');
    const { clock, client, endpoint, token } = bed;
    for (let crash = 0; crash < 2; crash++) {
      await mortal(bed, second);
      await clock.advance(minute);
    }
    endpoint.otherwise(endpoint.issue);
    const begunAt = clock.monotonic();
    await token(client());
    expect(clock.monotonic()).toBe(begunAt);
  });

  test('with many audiences each count as one death', async () => {
    const bed = await dyingFleet('durable');
    const { clock, client, endpoint, token } = bed;
    for (let audience = 0; audience < 10; audience++) void mortal(bed, 100, { audience: `audience ${audience}` });
    await settled();
    await clock.advance(61 * second);
    endpoint.otherwise(endpoint.issue);
    await token(client());
    expect(endpoint.requests.length).toBe(12);
  });

  test('are waited for ever longer by the whole fleet, until the first success, but not while the lease of one is longer', async () => {
    const bed = await dyingFleet('durable');
    const { clock, client, endpoint, token } = bed;
    const sentAt: number[] = [];
    endpoint.otherwise((request) => {
      sentAt.push(clock.monotonic());
      return silent(request);
    });
    while (sentAt.length < 12) await mortal(bed, second);
    const minutes = sentAt.slice(1).map((at, index) => Math.round((at - (sentAt[index] as number)) / minute));
    // The lease of the one that died is a minute of each.
    expect(minutes).toEqual([1, 1, 1, 1, 1, 1, 1, 2, 4, 9, 15]);

    await clock.advance(2 * minute);
    const error = await failure('ERR_TOKEN_ENDPOINT', client().getToken());
    expect(error).toMatchObject({ endpointStatus: undefined, ambiguous: true });
    expect(error.message).toBe(
      `[service-auth] Several processes were killed, or froze, during a token request, and each of these counts as a token. Let a process run for longer than timeoutMs before you stop it; the next attempt is possible at ${new Date(error.retryAt).toISOString()}. See ${errorPage}#err_token_endpoint`,
    );
    endpoint.otherwise(endpoint.issue);
    await clock.advance(error.retryAt - clock.now());
    await token(client());
    // The next death is the first of its row.
    endpoint.next(silent);
    await mortal(bed, second, { audience: 'other' });
    await clock.advance(minute);
    await token(client({ audience: 'other' }));
  });

  test('are told by the usage before anybody asks again, and one order to try again ends the wait', async () => {
    const bed = await dyingFleet('durable');
    const { clock, client, endpoint, store, token } = bed;
    const deaths = await dyingUntilHeld(bed);
    const reader = createUsageReader({ authUrl: 'https://auth.example.com', clientId: 'client-1', store, clock });
    const before = await store.text();
    for (const each of [client(), reader]) {
      const { holds, refusedUntil, refusedBecause } = await each.getUsage();
      expect(holds).toEqual([{ kind: 'deaths', until: refusedUntil, audience: undefined, status: undefined }]);
      expect(refusedBecause).toBe('backoff');
    }
    expect(failuresInRow(before ?? '', clock.now())).toMatchObject([{ kind: 'deaths', count: deaths }]);
    // Who was refused wrote down that the last one died.
    expect(failuresInRow(before ?? '')).toMatchObject([{ kind: 'deaths', count: deaths }]);
    expect(await store.text()).toBe(before);
    expect((await client().retryNow()).ended).toMatchObject([{ kind: 'deaths' }]);
    endpoint.otherwise(endpoint.issue);
    await token(client());
  });

  test('a process that was merely slow ends the row when its token comes', async () => {
    const bed = await dyingFleet('durable');
    const { clock, client, endpoint, token } = bed;
    const deaths = await dyingUntilHeld(bed);
    const { retryAt } = await failure('ERR_TOKEN_ENDPOINT', client().getToken());
    await clock.advance(retryAt - clock.now());
    const slow = client();
    const late = gated(endpoint.issue);
    endpoint.next(late.answer);
    const waiting = slow.getToken();
    await clock.advance(20 * second);
    late.release();
    await clock.until(waiting);
    await token(client());
    expect((await client().getUsage()).used).toBe(deaths + 1);
  });
});
