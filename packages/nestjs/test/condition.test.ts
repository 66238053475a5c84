import type { ServiceAuthEvent } from '@service-auth/core';
import { createTestClock } from '@service-auth/testing';
import { expect, test } from 'vitest';
import { trackCondition } from '../src/condition.ts';

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
  windowMs: 86_400_000,
  count: 1,
} as const;

test.each<[string, ServiceAuthEvent[], object]>([
  ['nothing', [], { failure: undefined, tokenExpiresAt: 0 }],
  ['a token of another process', [{ ...failed, retryAt: 3 }, adopted], { failure: undefined, tokenExpiresAt: 5 }],
  [
    'a failure that may be repeated later',
    [adopted, { ...failed, retryAt: 3 }],
    { failure: { code: 'ERR_TOKEN_ENDPOINT', retryAt: 3 }, tokenExpiresAt: 5 },
  ],
  [
    'a failure that may be repeated at once',
    [{ ...failed, retryAt: undefined }],
    { failure: { code: 'ERR_TOKEN_ENDPOINT', retryAt: 1 } },
  ],
  [
    'a failure of the function for the client secret',
    [adopted, { ...about, type: 'client_secret_failed', error: 'Error', count: 1 }],
    { failure: { code: 'ERR_CLIENT_SECRET', retryAt: 1 }, tokenExpiresAt: 5 },
  ],
  [
    'an error answer while a token is served',
    [adopted, { ...refused, reason: 'refresh' }],
    { failure: { code: 'ERR_ISSUANCE_LIMIT', retryAt: 2 }, tokenExpiresAt: 5 },
  ],
  [
    'an error answer after a 401',
    [adopted, { ...refused, reason: 'rejected' }],
    { failure: { code: 'ERR_ISSUANCE_LIMIT', retryAt: 2 }, tokenExpiresAt: 5 },
  ],
  [
    'an error answer instead of a token',
    [adopted, { ...refused, reason: 'expired' }],
    { failure: { code: 'ERR_ISSUANCE_LIMIT', retryAt: 2 }, tokenExpiresAt: 0 },
  ],
  [
    'an error answer unrelated to tokens',
    [adopted, { ...about, type: 'store_recovered' }],
    { failure: undefined, tokenExpiresAt: 5 },
  ],
])('the condition after %s', (_, events, expected) => {
  const condition = trackCondition(createTestClock({ now: 7 }));
  for (const event of events) condition.note(event);
  expect(condition).toMatchObject({ now: 7, ...expected });
});

test('without a clock of its own it is told by that of the machine', () => {
  const before = Date.now();
  const { now } = trackCondition(undefined);
  expect(now).toBeGreaterThanOrEqual(before);
  expect(now).toBeLessThanOrEqual(Date.now());
});
