import { describe, expect, test } from 'vitest';
import { createTestClock, startTestService } from '../src/index.ts';
import { requestToken } from './requests.ts';

const hour = 3_600_000;

describe('the limit', () => {
  test('is 150 tokens in any 24 hours: the next one is refused, and says for how long', async () => {
    const clock = createTestClock();
    await using service = await startTestService({ clock });
    for (let count = 0; count < 150; count++) expect((await requestToken(service)).status).toBe(200);
    await clock.advance(hour);
    const refused = await requestToken(service);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe(String(23 * 3_600));
    expect(service.counts).toMatchObject({ issued: 150, refused: 1, rejected: 0 });
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
    expect(service.counts).toMatchObject({ issued: 4, refused: 2 });
  });

  test('counts every request, refused ones too, if it says so', async () => {
    const clock = createTestClock();
    const issuanceLimit = { tokens: 3, windowMs: 1_000, counts: 'requests' } as const;
    await using service = await startTestService({ clock, issuanceLimit });
    expect(service.env['SERVICE_AUTH_TOKEN_LIMIT']).toBe('3 requests/1s');
    expect((await requestToken(service, { client_secret: 'wrong' })).status).toBe(401);
    expect((await requestToken(service, { grant_type: 'other' })).status).toBe(400);
    expect((await requestToken(service)).status).toBe(200);
    expect((await requestToken(service)).status).toBe(429);
    await clock.advance(999);
    expect((await requestToken(service)).status).toBe(429);
    await clock.advance(1_001);
    expect((await requestToken(service)).status).toBe(200);
    expect(service.counts).toMatchObject({ issued: 2, refused: 2, rejected: 2 });
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
    expect(service.counts).toMatchObject({ issued: 2 });
  });

  test('is kept when many ask at once', async () => {
    await using service = await startTestService({ issuanceLimit: { tokens: 5 } });
    const answers = await Promise.all(Array.from({ length: 30 }, () => requestToken(service)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    expect(service.counts).toMatchObject({ issued: 5, refused: 25 });
  });
});
