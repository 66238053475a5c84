import { createServiceAuth, memoryStore, type StoreDurability } from '@service-auth/core';
import { startService } from '@service-auth/test-support/service';
import { byDay } from '@service-auth/test-tools/night';
import { hour, minute } from '@service-auth/test-tools/units';
import { createTestClock, type TestServiceOptions } from '@service-auth/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { keepToken } from '../../src/serve/kept-token.ts';
import { failureAnswer, plainTokenAnswer, tokenAnswer } from '../../src/serve/token-answer.ts';
import { passing } from '../support/passing.ts';

// A test lets days pass, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 });

async function start(options: TestServiceOptions = {}, durability: StoreDurability = 'process') {
  const clock = createTestClock();
  const service = await startService({ clock, ...options });
  const store = { ...memoryStore({ clock }), durability };
  const auth = createServiceAuth({ ...service.options, store });
  const kept = keepToken(auth, clock);
  onTestFinished(async () => {
    kept.stop();
    await auth.close();
  });
  return { auth, clock, service, kept, pass: passing(auth, clock, 10_000) };
}

test('the token is renewed before its end although nobody asks', async () => {
  const { service, kept, pass } = await start({ lifetimeMs: hour });
  kept.start();
  await kept.tried;
  expect(service.counts.issued).toBe(1);
  await pass(5 * hour);
  expect(service.counts.issued).toBeGreaterThanOrEqual(5);
  expect(service.counts.issued).toBeLessThanOrEqual(7);
  expect(kept.leftMs()).toBeGreaterThan(minute);
});

test('a caller gets no token with less than a minute of life', async () => {
  const { service, kept, clock } = await start({ lifetimeMs: 5 * minute });
  const first = await kept.get();
  service.tokenEndpoint.always({ status: 503 });
  for (const left of [90_000, 59_000, 45_000, 20_000, 0]) {
    await clock.advance(Math.max(0, first.token.expiresAt - left - clock.now()));
    const answer = await kept.get().then(
      ({ token, leftMs }) => tokenAnswer(token, leftMs),
      (error) => failureAnswer(error, clock.now()),
    );
    expect([left, answer.status]).toEqual([left, left >= minute ? 200 : 503]);
    if (answer.status === 200) expect(JSON.parse(answer.body).expires_in).toBe(left / 1_000);
    else expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  }
  service.tokenEndpoint.clear();
});

test('a clock that is set back does not lengthen the life of the token', async () => {
  const { kept, clock } = await start();
  const { leftMs } = await kept.get();
  clock.step(-5 * hour);
  expect((await kept.get()).leftMs).toBeLessThanOrEqual(leftMs);
});

const steps = [
  [10, 'durable'],
  [23, 'process'],
  [8 * 24, 'durable'],
  [365 * 24, 'process'],
  [-5, 'durable'],
] as const;
const stepsTried = byDay(steps, ([hours]) => hours === 23 || hours === -5);

test.each(stepsTried)('a clock that is set by %i hours refuses nobody (%s store)', async (hours, durability) => {
  const { service, kept, clock, pass } = await start({}, durability);
  kept.start();
  await kept.tried;
  await pass(minute);
  clock.step(hours * hour);
  for (let passed = 0; passed < 26; passed += 1) {
    const { token, leftMs } = await kept.get();
    expect(tokenAnswer(token, leftMs).status).toBe(200);
    expect(Date.parse(JSON.parse(plainTokenAnswer(token, leftMs, '').body).expiresAt)).toBe(clock.now() + leftMs);
    expect(kept.leftMs()).toBe(leftMs);
    await pass(hour);
  }
  // With the store in memory nobody can know that the machine did not sleep.
  expect(service.counts.issued).toBeLessThanOrEqual(durability === 'process' && hours === 23 ? 3 : 2);
});

test('callers are refused only without a token, and not any more once there is one', async () => {
  const { service, kept, pass } = await start();
  service.tokenEndpoint.always({ status: 503 });
  expect(kept.isRefused()).toBe(false);
  kept.start();
  await kept.tried;
  expect(kept.isRefused()).toBe(true);
  service.tokenEndpoint.clear();
  await pass(10 * minute);
  expect(kept.isRefused()).toBe(false);
  service.tokenEndpoint.always({ status: 503 });
  await pass(hour);
  expect(kept.isRefused()).toBe(false);
});

test('a caller that is gone does not make the others refused', async () => {
  const { service, kept } = await start();
  const paused = service.tokenEndpoint.pauseNext();
  const controller = new AbortController();
  const gone = kept.get(controller.signal);
  await paused.arrived;
  controller.abort();
  await expect(gone).rejects.toThrow();
  expect(kept.isRefused()).toBe(false);
  paused.resume();
});

test('a rejected token is replaced, and a foreign one changes nothing', async () => {
  const { service, kept } = await start();
  const { token } = await kept.get();
  await kept.reject('another token');
  expect((await kept.get()).token.id).toBe(token.id);
  await kept.reject(token.value);
  expect((await kept.get()).token.id).not.toBe(token.id);
  expect(service.counts.issued).toBe(2);
});

test('a token that was reset is none, so the server is not ready while no other can be had', async () => {
  const { service, kept, auth } = await start();
  await kept.get();
  expect([kept.isRefused(), kept.leftMs() !== undefined]).toEqual([false, true]);
  await auth.reset();
  service.tokenEndpoint.always({ status: 503 });
  await expect(kept.get()).rejects.toMatchObject({ code: 'ERR_TOKEN_ENDPOINT' });
  expect([kept.isRefused(), kept.leftMs()]).toEqual([true, undefined]);
});
