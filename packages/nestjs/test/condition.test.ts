import type { Clock, ServiceAuth, ServiceAuthEvent, ServiceAuthEventListener } from '@service-auth/core';
import { createTestClock } from '@service-auth/testing';
import { expect, test } from 'vitest';
import { conditionOf, trackCondition } from '../src/condition.ts';

const hourMs = 3_600_000;
const about = { at: 1, audience: 'https://api.example/', instance: 'test' } as const;
const adopted = { ...about, type: 'token_adopted', tokenId: 'a', expiresAt: 5 } as const;
const failed = {
  ...about,
  type: 'token_request_failed',
  code: 'ERR_TOKEN_ENDPOINT',
  status: undefined,
  error: undefined,
  ambiguous: false,
  durationMs: 1,
} as const;
const refused = {
  ...about,
  type: 'issuance_refused',
  retryAt: 2,
  limit: 150,
  used: 120,
  usable: 120,
  windowMs: 86_400_000,
  newRecord: undefined,
  count: 1,
} as const;

test.each<[string, ServiceAuthEvent[], object]>([
  ['nothing', [], { failure: undefined, hasToken: false }],
  ['a token of another process', [{ ...failed, retryAt: 3 }, adopted], { failure: undefined, hasToken: true }],
  [
    'a token that was reset',
    [adopted, { ...about, type: 'token_reset', tokenId: 'a', reason: undefined }],
    { failure: undefined, hasToken: false },
  ],
  [
    'a caller that got none',
    [adopted, { ...about, type: 'token_unavailable', code: 'ERR_STORE', retryAt: undefined, count: 1 }],
    { failure: undefined, hasToken: false },
  ],
  [
    'a caller whose time ended',
    [adopted, { ...about, type: 'token_unavailable', code: 'ERR_TOKEN_PENDING', retryAt: undefined, count: 1 }],
    { failure: undefined, hasToken: true },
  ],
  [
    'a failure that may be repeated later',
    [adopted, { ...failed, retryAt: 3 }],
    { failure: { code: 'ERR_TOKEN_ENDPOINT', retryAt: 3 }, hasToken: true },
  ],
  [
    'a failure that may be repeated at once',
    [{ ...failed, retryAt: undefined }],
    { failure: { code: 'ERR_TOKEN_ENDPOINT', retryAt: 1 }, hasToken: false },
  ],
  [
    'a failure of the function for the client secret',
    [adopted, { ...about, type: 'client_secret_failed', error: 'Error', count: 1 }],
    { failure: { code: 'ERR_CLIENT_SECRET', retryAt: 1 }, hasToken: true },
  ],
  [
    'an error answer while a token is served',
    [adopted, { ...refused, reason: 'refresh' }],
    { failure: { code: 'ERR_ISSUANCE_LIMIT', retryAt: 2 }, hasToken: true },
  ],
  [
    'an error answer after a 401',
    [adopted, { ...refused, reason: 'rejected' }],
    { failure: { code: 'ERR_ISSUANCE_LIMIT', retryAt: 2 }, hasToken: true },
  ],
  [
    'an error answer instead of a token',
    [adopted, { ...refused, reason: 'expired' }],
    { failure: { code: 'ERR_ISSUANCE_LIMIT', retryAt: 2 }, hasToken: false },
  ],
  [
    'an error answer unrelated to tokens',
    [adopted, { ...about, type: 'store_recovered' }],
    { failure: undefined, hasToken: true },
  ],
])('the condition after %s', (_, events, expected) => {
  const { condition, note } = track(createTestClock({ now: 1 }));
  for (const event of events) note(event);
  expect({ ...condition() }).toEqual({ now: 1, ...expected });
});

function track(clock?: Pick<Clock, 'now' | 'monotonic'>) {
  let note: ServiceAuthEventListener = () => {};
  const client: Pick<ServiceAuth, 'subscribe'> = {
    subscribe(listener) {
      note = listener;
      return () => {};
    },
  };
  trackCondition(client, clock);
  return { condition: () => conditionOf(client), note: (event: ServiceAuthEvent) => note(event) };
}

test.each<[step: string, monotonic: number, wall: number, alive: boolean]>([
  ['an hour in which the clock was set forward by a month', hourMs, 30 * 24 * hourMs, true],
  ['an hour in which the clock was set back by a day', hourMs, -24 * hourMs, true],
  ['ten hours in which the clock was set back by a day', 10 * hourMs, -24 * hourMs, false],
  ['nine hours of sleep, in which the monotonic clock stood still', 0, 9 * hourMs, true],
  ['ten hours of sleep, in which the monotonic clock stood still', 0, 10 * hourMs, false],
])('a token of ten hours and a pause of ten hours, %s later', (_, monotonic, wall, alive) => {
  let passed = { monotonic: 0, wall: 0 };
  const { condition, note } = track({ now: () => 1 + passed.wall, monotonic: () => 7 + passed.monotonic });
  note({ ...adopted, expiresAt: 1 + 10 * hourMs });
  note({ ...failed, retryAt: 1 + 10 * hourMs });
  passed = { monotonic, wall };
  const { now = 0, failure, hasToken } = condition() ?? {};
  expect([hasToken, (failure?.retryAt ?? 0) > now]).toEqual([alive, alive]);
});

test('without a clock of its own it is told by that of the machine', () => {
  const { condition, note } = track();
  const before = Date.now();
  note({ ...adopted, at: before, expiresAt: before + hourMs });
  expect(condition()?.now).toBeGreaterThanOrEqual(before);
  expect(condition()?.now).toBeLessThanOrEqual(Date.now());
  expect(condition()?.hasToken).toBe(true);
});
