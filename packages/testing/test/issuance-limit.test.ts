import { describe, expect, test } from 'vitest';
import { createTestClock, startTestService } from '../src/index.ts';
import { largestCount } from '../src/service/issuance-log.ts';
import { requestToken } from './requests.ts';

const hour = 3_600_000;
const midnight = Date.UTC(2026, 0, 1);

describe('the limit', () => {
  test('is 150 tokens in any 24 hours: the next one is refused, and says for how long', async () => {
    const clock = createTestClock();
    await using service = await startTestService({ clock });
    for (let count = 0; count < 150; count++) expect((await requestToken(service)).status).toBe(200);
    await clock.advance(hour);
    const refused = await requestToken(service);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe(String(23 * 3_600));
    expect(service.counts).toMatchObject({ issued: 150, refused: 1, rejected: 0, largestCountInAnyWindow: 150 });
    expect(service.tokenRequests.at(-1)?.outcome).toBe('refused');
  });

  test('rolls: each token leaves the window by itself', async () => {
    const clock = createTestClock();
    await using service = await startTestService({ clock, issuanceLimit: { tokens: 2, windowMs: 1_000 } });
    const status = async () => (await requestToken(service)).status;
    expect(await status()).toBe(200);
    await clock.advance(600);
    expect(await status()).toBe(200);
    await clock.advance(399);
    expect(await status()).toBe(429);
    await clock.advance(1);
    expect(await status()).toBe(200);
    expect(await status()).toBe(429);
    await clock.advance(600);
    expect(await status()).toBe(200);
    expect(service.counts).toMatchObject({ issued: 4, refused: 2, largestCountInAnyWindow: 2 });
  });

  test('may be fixed: a calendar day gives all at once, and two days may meet within an hour', async () => {
    const clock = createTestClock({ now: midnight - 1_000 });
    await using service = await startTestService({ clock, issuanceLimit: { tokens: 3, window: 'fixed' } });
    const status = async () => (await requestToken(service)).status;
    for (let count = 0; count < 3; count++) expect(await status()).toBe(200);
    const refused = await requestToken(service);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    await clock.advance(1_000);
    for (let count = 0; count < 3; count++) expect(await status()).toBe(200);
    expect(await status()).toBe(429);
    // Counted by itself, and not as the limit counts.
    expect(service.counts.largestCountInAnyWindow).toBe(6);
  });

  test('is per client', async () => {
    await using service = await startTestService({
      issuanceLimit: { tokens: 1 },
      clients: [
        { clientId: 'one', clientSecret: 'secret-of-one', audiences: ['api'] },
        { clientId: 'two', clientSecret: 'secret-of-two', audiences: ['api'] },
      ],
    });
    const two = { client_id: 'two', client_secret: 'secret-of-two' };
    expect((await requestToken(service)).status).toBe(200);
    expect((await requestToken(service, two)).status).toBe(200);
    expect((await requestToken(service)).status).toBe(429);
    expect(service.counts).toMatchObject({ issued: 2, largestCountInAnyWindow: 1 });
  });

  test('is kept when many ask at once', async () => {
    await using service = await startTestService({ issuanceLimit: { tokens: 5 } });
    const answers = await Promise.all(Array.from({ length: 30 }, () => requestToken(service)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    expect(service.counts).toMatchObject({ issued: 5, refused: 25 });
  });
});

describe('the largest count in any window', () => {
  const cases: [what: string, instants: number[], expected: number][] = [
    ['nothing', [], 0],
    ['one', [5], 1],
    ['a whole window apart', [0, 100, 200], 1],
    ['a moment less than a window apart', [0, 99, 199], 2],
    ['a burst in the middle', [0, 150, 160, 170, 180, 400], 4],
    ['a burst across a calendar boundary', [98, 99, 100, 101], 4],
    ['not in order, as after a step of the clock', [180, 0, 170, 160], 3],
    ['all at once', [7, 7, 7], 3],
  ];
  test.each(cases)('of %s', (_, instants, expected) => {
    expect(largestCount(instants, 100)).toBe(expected);
  });

  test('agrees with counting every window one by one', () => {
    // A linear congruential generator: the same instants in every run.
    let state = 1;
    const next = (below: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return state % below;
    };
    for (let round = 0; round < 200; round++) {
      const instants = Array.from({ length: next(12) }, () => next(300));
      const counts = instants.map((start) => instants.filter((at) => at >= start && at < start + 100).length);
      expect(largestCount(instants, 100)).toBe(Math.max(0, ...counts));
    }
  });
});
