import { createTestClock } from '@service-auth/testing';
import { expect, test } from 'vitest';
import { createOurs, instantTransport } from '../contenders/ours.ts';
import { clientAt } from '../harness/client.ts';

const methods = ['getToken', 'peekToken'] as const;

/** A client with a token. Its reads of the clocks are counted. */
async function counted() {
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
  const auth = createOurs(clientAt(), { transport: instantTransport('token'), clock: counting });
  await auth.getToken();
  await clock.advance(5_000);
  return { auth, clock, reads };
}

test.each(methods)('%s() reads the wall clock once, and no other clock', async (method) => {
  const { auth, clock, reads } = await counted();
  void auth[method]();
  Object.assign(reads, { now: 0, monotonic: 0 });
  for (let call = 0; call < 100; call += 1) {
    await clock.advance(1);
    void auth[method]();
  }
  expect(reads).toEqual({ now: 100, monotonic: 0 });
});
