import { createTestClock } from '@service-auth/testing';
import { expect, test } from 'vitest';
import { createOurs, instantTransport } from '../contenders/ours.ts';

const client = {
  tokenUrl: 'https://auth.example.com/oauth/token',
  apiUrl: 'https://api.example.com/api/v1/orders',
  clientId: 'client',
  clientSecret: 'secret',
  audience: 'api',
};

test.each(['getToken', 'peekToken'] as const)('%s() reads one clock, once', async (method) => {
  const clock = createTestClock();
  const reads = { now: 0, monotonic: 0 };
  const counting = {
    setTimer: clock.setTimer,
    now() {
      reads.now += 1;
      return clock.now();
    },
    monotonic() {
      reads.monotonic += 1;
      return clock.monotonic();
    },
  };
  const auth = createOurs(client, { transport: instantTransport('token'), clock: counting });
  await auth.getToken();
  await clock.advance(5_000);
  // The first call of each second looks at everything.
  void auth[method]();
  Object.assign(reads, { now: 0, monotonic: 0 });
  for (let call = 0; call < 1_000; call += 1) void auth[method]();
  expect(reads).toEqual({ now: 1_000, monotonic: 0 });
});
