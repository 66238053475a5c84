import { describe, expect, test } from 'vitest';
import { createUsageReader } from '../src/index.ts';
import { type Bed, createBed, day, failure, hour, minute } from './support/bed.ts';
import { fails } from './support/faulty-store.ts';
import { type Answer, answered } from './support/scripted-endpoint.ts';

const name = 'auth0-client-quota-limit';

/** A token whose answer has this header. */
function saying({ endpoint }: Bed, header: string | string[], of: string = name): Answer {
  return async (request) => {
    const answer = await endpoint.issue(request);
    return { ...answer, headers: { 'content-type': 'application/json', [of]: header } };
  };
}

const readerOf = ({ store, clock }: Bed) =>
  createUsageReader({ store, clock, authUrl: 'https://auth.example.com', clientId: 'client-1' });

describe('an endpoint that says what the provider counts', () => {
  test('is heard by the process that asked: the event says how many of the tokens the record does not know', async () => {
    const bed = createBed();
    bed.endpoint.next(saying(bed, 'b=per_hour;q=10;r=9;t=3540,b=per_day;q=150;r=89;t=43200'));
    await bed.token(bed.client());
    expect(bed.eventsOf('quota_observed')).toMatchObject([
      { of: 'client', windowMs: hour, tokens: 10, remaining: 9, foreign: 0 },
      { of: 'client', windowMs: day, tokens: 150, remaining: 89, foreign: 60, resetAt: bed.clock.now() + 12 * hour },
    ]);
  });

  test('is heard by everybody who reads the record, until the window ends', async () => {
    const bed = createBed();
    bed.endpoint.next(saying(bed, 'b=per_day;q=150;r=89;t=3600'));
    const at = bed.clock.now();
    await bed.token(bed.client());
    const { quota, foreign, used } = await readerOf(bed).getUsage();
    const figures = { windowMs: day, tokens: 150, remaining: 89, foreign: 60, observedAt: at, resetAt: at + hour };
    expect([quota, foreign, used]).toEqual([[figures], 60, 1]);
    expect((await bed.client().getUsage()).quota).toEqual([figures]);
    await bed.clock.advance(hour);
    expect(await readerOf(bed).getUsage()).not.toHaveProperty('quota');
  });

  test('is believed until it says something else: an answer without the header changes nothing', async () => {
    const bed = createBed();
    bed.endpoint.next(saying(bed, 'b=per_day;q=150;r=140;t=80000'), bed.endpoint.issue);
    await bed.token(bed.client());
    await bed.clock.advance(minute);
    await bed.token(bed.client({ audience: 'stock' }));
    expect((await readerOf(bed).getUsage()).foreign).toBe(9);
    bed.endpoint.next(saying(bed, 'b=per_day;q=150;r=100;t=80000'));
    await bed.token(bed.client({ audience: 'bills' }));
    expect((await readerOf(bed).getUsage()).foreign).toBe(47);
    expect((await bed.store.text())?.match(/"quota"/g)).toHaveLength(1);
  });

  test('is heard with a refusal, too', async () => {
    const bed = createBed();
    bed.endpoint.next(() => answered(429, '{}', { 'retry-after': '60', [name]: 'b=per_day;q=150;r=0;t=80000' }));
    await failure('ERR_RATE_LIMITED', bed.clock.until(bed.client().getToken()));
    expect(bed.eventsOf('quota_observed')).toMatchObject([{ foreign: 150 }]);
    expect((await readerOf(bed).getUsage()).foreign).toBe(150);
  });

  test('suspects no other client while the record does not have the answer', async () => {
    const bed = createBed();
    const said = saying(bed, 'b=per_day;q=150;r=140;t=80000');
    bed.endpoint.next((request) => {
      bed.store.always('both', fails);
      return said(request);
    });
    await bed.token(bed.client());
    expect(bed.eventsOf('quota_observed')).toMatchObject([{ remaining: 140, foreign: undefined }]);
    bed.store.always('both');
    await bed.clock.advance(minute);
    expect((await readerOf(bed).getUsage()).foreign).toBe(9);
  });

  test('of all clients of an organization says nothing about this one', async () => {
    const bed = createBed();
    bed.endpoint.next(saying(bed, 'b=per_day;q=500;r=1;t=80000', 'auth0-organization-quota-limit'));
    await bed.token(bed.client());
    expect(bed.eventsOf('quota_observed')).toMatchObject([{ of: 'organization', tokens: 500, foreign: undefined }]);
    expect(await readerOf(bed).getUsage()).not.toHaveProperty('foreign');
  });
});

describe('no caller waits or is refused because of a header, and none counts', () => {
  test.for<string | string[]>([
    'b=per_day;q=150;r=0;t=86400',
    'b=per_day;q=0;r=0;t=0',
    'b=per_hour;q=999999999;r=0;t=3600',
    'b=per_day;q=150;r=151;t=-1',
    ['b=per_day;q=150;r=0;t=60', 'b=per_day;q=150;r=3;t=60'],
    'q=150;r=0;t=1e9',
  ])('%j', async (header) => {
    const bed = createBed();
    const plain = createBed();
    bed.endpoint.otherwise(saying(bed, header));
    for (const each of [bed, plain]) {
      for (let days = 0; days < 2; days++) {
        for (let index = 0; index < 5; index++) await each.token(each.client({ audience: `audience ${index}` }));
        await each.clock.advance(25 * hour);
      }
    }
    const [{ quota: _, foreign: __, ...usage }, expected] = [
      await readerOf(bed).getUsage(),
      await readerOf(plain).getUsage(),
    ];
    const comparable = ({ issuances, tokens, recordId, ...rest }: typeof usage) => ({
      ...rest,
      issuances: issuances.map(({ id, ...issuance }) => issuance),
      tokens: tokens.map(({ id, ...token }) => token),
    });
    expect(comparable(usage)).toEqual(comparable(expected));
    expect(bed.endpoint.requests).toHaveLength(plain.endpoint.requests.length);
  });

  test('a transport whose headers throw is as good as one that has none', async () => {
    const bed = createBed();
    const get = (header: string) => {
      if (header === name) throw new Error('no');
      return header === 'content-type' ? 'application/json' : null;
    };
    bed.endpoint.next(async (request) => ({ ...(await bed.endpoint.issue(request)), headers: { get } }));
    await bed.token(bed.client());
    expect(bed.eventsOf('token_request_failed')).toEqual([]);
  });
});

test('a token is renewed ahead of time, although nothing is left', async () => {
  const bed = createBed();
  bed.endpoint.otherwise(saying(bed, 'b=per_day;q=150;r=0;t=86400'));
  await bed.token(bed.client());
  await bed.clock.advance(23 * hour);
  await bed.token(bed.client());
  await bed.clock.advance(minute);
  expect(bed.endpoint.requests).toHaveLength(2);
});

test.each<[string, Readonly<Record<string, string>>, number]>([
  ['Retry-After', { 'retry-after': '60', [name]: 'b=per_day;q=9;r=0;t=7200', 'x-ratelimit-reset': '1' }, minute],
  ['the windows of which nothing is left', { [name]: 'b=per_hour;q=9;r=0;t=1200,b=per_day;q=50;r=0;t=7200' }, 2 * hour],
  [
    'no window of one of several organizations',
    { 'auth0-organization-quota-limit': 'b=per_hour;q=9;r=0;t=1200' },
    15 * minute,
  ],
  ['X-RateLimit-Reset', { 'x-ratelimit-reset': '1767304800', date: 'Thu, 01 Jan 2026 21:00:00 GMT' }, hour],
  ['no reset that is past', { 'x-ratelimit-reset': '1767304800', date: 'Fri, 02 Jan 2026 21:00:00 GMT' }, 15 * minute],
  ['a reset in seconds', { 'x-ratelimit-reset': '3600' }, hour],
  ['no window of which something is left', { [name]: 'b=per_day;q=50;r=1;t=7200' }, 15 * minute],
])('a 429 is timed by %s', async (_, headers, waitMs) => {
  const bed = createBed();
  bed.endpoint.next(() => answered(429, '{}', headers));
  const { retryAt } = await failure('ERR_RATE_LIMITED', bed.clock.until(bed.client().getToken()));
  expect((retryAt ?? 0) - bed.clock.now()).toBe(waitMs);
});

test('an answer that a cache repeats says nothing', async () => {
  const bed = createBed();
  bed.endpoint.next(bed.endpoint.issueWith({ access_token: 'same' }));
  await bed.token(bed.client());
  await bed.clock.advance(23 * hour + 30 * minute);
  bed.endpoint.otherwise(async (request) => {
    const answer = await bed.endpoint.issueWith({ access_token: 'same' })(request);
    return { ...answer, headers: { 'content-type': 'application/json', [name]: 'b=per_day;q=150;r=0;t=60' } };
  });
  await bed.clock.until(
    bed
      .client({ audience: 'stock' })
      .getToken()
      .catch(() => {}),
  );
  await bed.clock.until(
    bed
      .client()
      .getToken()
      .catch(() => {}),
  );
  expect(bed.eventsOf('quota_observed').map(({ audience }) => audience)).not.toContain('orders');
});
