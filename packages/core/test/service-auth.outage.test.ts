import { describe, expect, test } from 'vitest';
import { type Bed, createBed, day, hour, minute, second } from './support/bed.ts';
import { type Answer, answered, answering, failing, silent } from './support/scripted-endpoint.ts';
import { seedRandom } from './support/seeded-random.ts';

seedRandom();

/** A gateway that checks a request and fails behind that: it answers probes. */
const failsBehind: Answer = ({ body }) => (body === '{}' ? answered(400) : answered(503));

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
    '$kind for $hours h, $durability store: served within 16 minutes, half of the budget is left',
    async ({ answer, hours, durability }) => {
      const bed = createBed(durability);
      const afterMs = await servedAfter(bed, answer, hours * hour);
      const { used, usable } = await bed.client().getUsage();
      expect(used - 1).toBeLessThanOrEqual(usable / 2);
      expect(afterMs).toBeLessThanOrEqual(16 * minute);
    },
  );

  test.each([
    ['503', answering(503), 16 * minute],
    ['no answer', silent, 16 * minute],
    ['failures behind probes', failsBehind, 4 * hour],
  ] as const)(
    'on the first day of a record, %s for 12 h: half of what it may gain is left',
    async (_, answer, withinMs) => {
      const bed = createBed('durable');
      const { clock, client, endpoint } = bed;
      endpoint.otherwise(answer);
      await asking(bed, () => clock.monotonic() < 12 * hour);
      endpoint.otherwise(endpoint.issue);
      const endedAt = clock.monotonic();
      const { used, refusedUntil } = await client().getUsage();
      expect(used).toBeLessThanOrEqual(15);
      expect(refusedUntil).toBeUndefined();
      await asking(bed, () => true);
      expect(clock.monotonic() - endedAt).toBeLessThanOrEqual(withinMs);
    },
  );

  test.each([
    [1, 0],
    [12, 0],
    [30, 0],
    [30, 1],
  ])(
    'that fails after five seconds, for ten hours, %d audiences that ask at once leave half of the budget, %d others get their tokens ten minutes after the last failure',
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
      // The last request failed after five seconds, and they ask once a minute.
      expect(clock.monotonic() - askedAt).toBeLessThanOrEqual(11 * minute + 5 * second);
      const { used } = await client().getUsage();
      expect(used).toBeLessThanOrEqual(60);
      endpoint.otherwise(endpoint.issue);
      const endedAt = clock.monotonic();
      while ((await all()).some(({ status }) => status === 'rejected')) await clock.advance(minute);
      expect(clock.monotonic() - endedAt).toBeLessThanOrEqual(2 * hour);
    },
  );

  test('an endpoint that answers probes and fails behind them spends no more than half of the budget', async () => {
    for (const durability of ['durable', 'replicated'] as const) {
      const bed = createBed(durability);
      const afterMs = await servedAfter(bed, failsBehind, 3 * day);
      const { used, usable } = await bed.client().getUsage();
      expect(used - 1).toBeLessThanOrEqual(usable / 2);
      expect(afterMs).toBeLessThanOrEqual(88 * minute);
    }
  });

  test.each([
    { token_type: 'mac', expires_in: 60 },
    { token_type: 'Bearer', expires_in: 0 },
  ])('an endpoint that issues a token to a probe has it counted, even if it is of no use: %j', async (fields) => {
    const bed = createBed();
    const { endpoint, client } = bed;
    const useless = answered(200, JSON.stringify({ access_token: 'abc', ...fields }));
    const { length } = endpoint.requests;
    await servedAfter(bed, ({ body }) => (body === '{}' ? useless : answered(503)), 9 * hour);
    const sent = endpoint.requests.slice(length).map(({ body }) => body);
    expect(sent.filter((body) => body === '{}').length).toBe(1);
    // All of them have left the window but for the token of the end, the one of the probe, and those that failed.
    expect((await client().getUsage()).used).toBe(sent.length - 1);
  });

  test('an endpoint that issues a token to a probe has it counted, and gets no other probe', async () => {
    const bed = createBed();
    // A broker, or a certificate of the client, adds the credentials: the endpoint issues a token whatever the body is.
    const { endpoint, client } = bed;
    const probes = () => endpoint.requests.filter(({ body }) => body === '{}').length;
    await servedAfter(bed, answering(503), 9.2 * hour);
    const first = probes();
    expect(first).toBeGreaterThan(0);
    const { used, pending, issuances } = await client().getUsage();
    // The first token of the bed has left the window.
    expect(used - pending).toBe(2);
    expect(endpoint.issued).toBe(3);
    expect(new Set(issuances.map(({ id }) => id)).size).toBe(used);
    endpoint.otherwise(answering(503));
    const { clock } = bed;
    await clock.advance(25 * hour);
    await asking(bed, () => probes() === first && endpoint.requests.length < 200);
    expect(probes()).toBe(first);
  });

  test('an endpoint whose answers to probes never end gets the request after a probe all the same', async () => {
    const bed = createBed();
    const { endpoint } = bed;
    const stalls: Answer = () => ({ ...answered(401), body: new Promise<string>(() => {}) });
    endpoint.otherwise(answering(503));
    const isProbe = ({ body }: { body: string }) => body === '{}';
    await asking(bed, () => !endpoint.requests.some(isProbe));
    endpoint.otherwise((request) => (isProbe(request) ? stalls(request) : endpoint.issue(request)));
    const before = endpoint.requests.length;
    await asking(bed, () => endpoint.requests.length < before + 10);
    expect(endpoint.issued).toBe(1);
    expect(endpoint.requests.slice(before).map(isProbe)).toEqual([true, false]);
  });

  test('probes have no credentials', async () => {
    const bed = createBed('replicated');
    await servedAfter(bed, answering(503), 6 * hour);
    const bodies = bed.endpoint.requests.map(({ body }) => JSON.parse(body) as object);
    const probes = bodies.filter((body) => !('client_secret' in body));
    expect(probes.length).toBeGreaterThan(10);
    expect(new Set(probes.map((body) => JSON.stringify(body)))).toEqual(new Set(['{}']));
  });
});
