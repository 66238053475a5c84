import { createServiceAuth } from '@service-auth/core';
import { expect, test } from 'vitest';
import { createTestClock, startTestService } from '../src/index.ts';
import { requestToken } from './requests.ts';

const hour = 3_600_000;
const name = 'auth0-client-quota-limit';

test('the service says what it counts in its day, with tokens and with refusals, if it is told to', async () => {
  const clock = createTestClock();
  const left = 24 * 3_600 - Math.floor((clock.now() % (24 * hour)) / 1_000);
  await using service = await startTestService({ clock, quota: { foreign: 60 } });
  expect((await requestToken(service)).headers.get(name)).toBe(`b=per_day;q=150;r=89;t=${left}`);
  const refused = await requestToken(service, { client_secret: 'wrong' });
  expect(refused.headers.get(name)).toBe(`b=per_day;q=150;r=89;t=${left}`);
  expect((await requestToken(service, { client_id: 'unknown' })).headers.get(name)).toBeNull();
  await clock.advance(left * 1_000);
  expect((await requestToken(service)).headers.get(name)).toMatch(/^b=per_day;q=150;r=89;t=86400$/);
});

test('in its hour, if that is the window of the limit; and otherwise it says nothing', async () => {
  const clock = createTestClock();
  const issuanceLimit = { tokens: 10, windowMs: hour };
  await using hourly = await startTestService({ clock, issuanceLimit, quota: {} });
  expect((await requestToken(hourly)).headers.get(name)).toMatch(/^b=per_hour;q=10;r=9;t=\d+$/);
  await using silent = await startTestService({ clock, issuanceLimit });
  expect((await requestToken(silent)).headers.get(name)).toBeNull();
});

test('a client finds the tokens that others got', async () => {
  await using service = await startTestService({ clock: createTestClock(), quota: { foreign: 60 } });
  await using auth = createServiceAuth(service.options);
  await auth.getToken();
  expect(await auth.getUsage()).toMatchObject({ used: 1, foreign: 60, quota: [{ tokens: 150, remaining: 89 }] });
});
