import { createServiceAuth, createServiceAuthFromEnv, type ServiceAuth } from '@service-auth/core';
import { describe, expect, test } from 'vitest';
import { createTestClock, startForeignOrigin, startTestService, type TestService } from '../src/index.ts';
import { callApi, requestToken } from './requests.ts';

describe('startTestService', () => {
  test('has all that createServiceAuth needs', async () => {
    await using service = await startTestService();
    await using auth = createServiceAuth(service.options);
    const token = await auth.getToken();
    expect((await callApi(service, token.value)).status).toBe(200);
    expect(service.counts).toMatchObject({ issued: 1, rejected: 0, apiRequests: 1 });
    expect(auth.covers(`${service.baseUrl}/api/v1/`)).toBe(true);
  });

  test('passes on its clock and its limit, and nothing else', async () => {
    const clock = createTestClock();
    await using plain = await startTestService();
    await using special = await startTestService({
      clock,
      issuanceLimit: { tokens: 10, windowMs: 60_000 },
    });
    expect(Object.keys(plain.options).sort()).toEqual(['audience', 'authUrl', 'baseUrl', 'clientId', 'clientSecret']);
    expect(special.options).toMatchObject({ clock, issuanceLimit: { tokens: 10, windowMs: 60_000 } });
  });

  test.each([{}, { tokens: 1_000 }, { tokens: 10, windowMs: 60_000 }, { windowMs: 3_600_000 }])(
    'its variables configure the same client as its options, with the limit %j',
    async (issuanceLimit) => {
      await using service = await startTestService({ issuanceLimit });
      await using fromOptions = createServiceAuth(service.options);
      await using fromEnv = createServiceAuthFromEnv(service.env);
      expect((await fromEnv.getToken()).value).toBe((await fromOptions.getToken()).value);
      expect(service.counts.issued).toBe(1);
      const limitsOf = async (auth: ServiceAuth) =>
        (await auth.getUsage()).windows.map(({ tokens, windowMs, own }) => ({ tokens, windowMs, own }));
      expect(await limitsOf(fromEnv)).toEqual(await limitsOf(fromOptions));
    },
  );

  test('runs several times at once, and accepts no token of another one', async () => {
    await using one = await startTestService();
    await using two = await startTestService();
    expect(one.url).not.toBe(two.url);
    const { value } = await createServiceAuth(one.options).getToken();
    const statusAt = async (service: TestService) => (await callApi(service, value)).status;
    expect([await statusAt(one), await statusAt(two)]).toEqual([200, 401]);
  });

  test('closes once and for all, with connections that are idle or waiting', async () => {
    const service = await startTestService();
    await (await requestToken(service)).text();
    await service.close();
    await service.close();
    await expect(requestToken(service)).rejects.toThrow();
  });

  test('tells when the counts are as somebody waits for', async () => {
    await using service = await startTestService();
    let reached = false;
    const third = service
      .until(({ issued }) => issued === 3)
      .then(() => {
        reached = true;
      });
    await requestToken(service);
    await requestToken(service);
    expect(reached).toBe(false);
    await requestToken(service);
    await third;
    await service.until(({ issued }) => issued === 3);
    const broken = service.until(({ issued }) => {
      if (issued > 3) throw new Error('from the condition');
      return false;
    });
    await Promise.all([expect(broken).rejects.toThrow('from the condition'), requestToken(service)]);
  });

  test('follows the clock of the world while the wall clock of the client steps', async () => {
    const clock = createTestClock();
    await using service = await startTestService({ clock: clock.world });
    await using auth = createServiceAuth({ ...service.options, clock });
    const token = await auth.getToken();
    clock.step(-10 * 365 * 86_400_000);
    await auth.getToken();
    expect((await callApi(service, token.value)).status).toBe(200);
    expect(service.counts.issued).toBe(1);
  });
});

describe('startForeignOrigin', () => {
  test('remembers all that it receives, credentials included', async () => {
    await using service = await startTestService();
    await using foreign = await startForeignOrigin();
    expect(new URL(foreign.url).origin).not.toBe(new URL(service.url).origin);
    const auth = createServiceAuth(service.options);
    const { authorization } = await auth.getToken();
    expect(foreign.received).toBe('[]');
    const response = await fetch(`${foreign.url}/x`, { method: 'POST', headers: { authorization }, body: 'hello' });
    expect(response.status).toBe(200);
    expect(foreign.requests).toMatchObject([{ method: 'POST', path: '/x', body: 'hello' }]);
    expect(service.findSecrets(foreign.received)).toEqual(['access token']);
  });

  test('answers as it is told', async () => {
    await using foreign = await startForeignOrigin();
    foreign.answers.next({ status: 302, headers: { location: '/y' } }, { status: 401 });
    expect((await fetch(`${foreign.url}/x`)).status).toBe(401);
    expect(foreign.requests.map(({ path }) => path)).toEqual(['/x', '/y']);
  });
});
