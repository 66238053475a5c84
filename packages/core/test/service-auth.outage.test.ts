import { byDay } from '@service-auth/test-tools/night';
import { describe, expect, test } from 'vitest';
import { type Bed, createBed, day, hour, minute, second } from './support/bed.ts';
import { type Answer, answered, answering, failing, silent } from './support/scripted-endpoint.ts';
import { seedRandom } from './support/seeded-random.ts';

seedRandom();

/** New processes without a token ask again and again at the time they are told, as long as `goesOn`. */
async function asking(bed: Bed, goesOn: () => boolean): Promise<void> {
  const { clock, client } = bed;
  while (goesOn()) {
    const error = await clock.until(client().getToken()).then(
      () => undefined,
      (reason: { retryAt: number }) => reason,
    );
    if (!error) return;
    await clock.advance(Math.max(second, error.retryAt - clock.now()));
  }
}

/** An outage of the endpoint of a fleet whose token has ended. Returns how long after it a new process had a token. */
async function servedAfter(bed: Bed, answer: Answer, lastsMs: number): Promise<number> {
  const { clock, client, endpoint, token } = bed;
  await token(client());
  await clock.advance(30 * hour);
  endpoint.otherwise(answer);
  const endsAt = clock.monotonic() + lastsMs;
  while (clock.monotonic() < endsAt) {
    const { retryAt = 0 } = (await clock.until(client().getToken()).then(
      () => ({}),
      (error: { retryAt: number }) => error,
    )) as { retryAt?: number };
    await clock.advance(Math.min(endsAt - clock.monotonic(), Math.max(second, retryAt - clock.now())));
  }
  // The last attempt before the end.
  await clock.until(
    client()
      .getToken()
      .catch(() => {}),
  );
  endpoint.otherwise(endpoint.issue);
  const begunAt = clock.monotonic();
  await asking(bed, () => clock.monotonic() < begunAt + 30 * hour);
  return clock.monotonic() - begunAt;
}

const kinds: [string, Answer][] = [
  ['503', answering(503)],
  ['no answer', silent],
  ['a maintenance page with status 200', answering(200, '<html>')],
  ['404', answering(404)],
  ['403', answering(403, '{"error":"access_denied"}')],
  ['401', answering(401, '{"error":"invalid_client"}')],
  ['429 without Retry-After', answering(429)],
  ['connections that are refused', failing('ECONNREFUSED')],
];
const lengths = [3 * hour, 6 * hour, 17 * hour, 3 * day];
const cases = kinds.flatMap(([kind, answer]) =>
  lengths.flatMap((lastsMs) =>
    (['durable', 'replicated'] as const).map((durability) => ({ kind, answer, hours: lastsMs / hour, durability })),
  ),
);

describe('after an outage of the token endpoint', () => {
  test.each(cases)(
    '$kind for $hours h, $durability store: served within two hours, half of the budget is left',
    async ({ answer, hours, durability }) => {
      const bed = createBed(durability);
      const afterMs = await servedAfter(bed, answer, hours * hour);
      const { used, usable } = await bed.client().getUsage();
      expect(used - 1).toBeLessThanOrEqual(usable / 2);
      // With 120 usable tokens 80 minutes are promised.
      expect(afterMs).toBeLessThanOrEqual(durability === 'durable' ? 80 * minute : 2 * hour);
    },
  );

  test.each([2, 5, 10, 20, 45, 90])('of %d minutes: served within 20 minutes', async (minutes) => {
    expect(await servedAfter(createBed('durable'), answering(503), minutes * minute)).toBeLessThanOrEqual(20 * minute);
  });

  test.each([
    ['503', answering(503), 160 * minute],
    ['no answer', silent, 160 * minute],
  ] as const)(
    'on the first day of a record, %s for 12 h: a quarter of what it may gain is left',
    async (_, answer, withinMs) => {
      const bed = createBed('durable');
      const { clock, client, endpoint } = bed;
      endpoint.otherwise(answer);
      await asking(bed, () => clock.monotonic() < 12 * hour);
      endpoint.otherwise(endpoint.issue);
      const endedAt = clock.monotonic();
      const { used, refusedUntil } = await client().getUsage();
      expect(used).toBeLessThanOrEqual(22);
      expect(refusedUntil).toBeUndefined();
      await asking(bed, () => true);
      expect(clock.monotonic() - endedAt).toBeLessThanOrEqual(withinMs);
    },
  );

  const crowds = [
    [1, 0],
    [12, 0],
    [30, 0],
    [30, 1],
  ] as const;

  test.each(byDay(crowds, ([audiences]) => audiences <= 12))(
    'that fails after five seconds, for ten hours, %d audiences that ask at once leave a quarter of the budget, %d others get their tokens within 80 minutes',
    async (audiences, healthy) => {
      const bed = createBed('durable');
      const { clock, client, endpoint, token } = bed;
      const clients = Array.from({ length: audiences }, (_, index) => client({ audience: `audience ${index}` }));
      const others = Array.from({ length: healthy }, (_, index) => client({ audience: `healthy ${index}` }));
      const all = () => clock.until(Promise.allSettled(clients.map((auth) => auth.getToken())));
      await token(client({ issuanceLimit: { tokens: 150 } }));
      await clock.advance(30 * hour);
      endpoint.otherwise(async (request) => {
        if (request.body.includes('healthy')) return endpoint.issueWith({ expires_in: 3_600 })(request);
        await new Promise<void>((answer) => clock.setTimer(answer, 5 * second));
        return answered(500);
      });
      const endsAt = clock.monotonic() + 10 * hour;
      while (clock.monotonic() < endsAt) {
        await Promise.all([all(), clock.until(Promise.allSettled(others.map((auth) => auth.getToken())))]);
        await clock.advance(minute);
      }
      const askedAt = clock.monotonic();
      const served = () => clock.until(Promise.allSettled(others.map((auth) => auth.getToken())));
      while ((await served()).some(({ status }) => status === 'rejected')) await clock.advance(minute);
      expect(clock.monotonic() - askedAt).toBeLessThanOrEqual(80 * minute);
      const { unknown } = await client().getUsage();
      expect(unknown).toBeLessThanOrEqual(90);
      endpoint.otherwise(endpoint.issue);
      const endedAt = clock.monotonic();
      while ((await all()).some(({ status }) => status === 'rejected')) await clock.advance(minute);
      expect(clock.monotonic() - endedAt).toBeLessThanOrEqual(2 * hour);
    },
  );
});
