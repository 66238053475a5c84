import { HttpService } from '@nestjs/axios';
import { createTestingServiceAuth, getServiceAuthToken, ServiceAuth, ServiceAuthModule } from '@service-auth/nestjs';
import { ServiceAuthHttpModule } from '@service-auth/nestjs/axios';
import { startService } from '@service-auth/test-support/service';
import { firstValueFrom } from 'rxjs';
import { expect, test } from 'vitest';
import { boot } from './support/boot.ts';

test('forTesting provides a client with a token that costs nothing', async () => {
  const app = await boot({ imports: [ServiceAuthModule.forTesting({ token: 'mine', names: ['billing'] })] });
  const auth = app.get(ServiceAuth);
  const token = await auth.getToken();
  expect(token.authorization).toBe('Bearer mine');
  expect(auth.peekToken()).toBe(token);
  expect(auth.covers('https://api.example/api/v1/')).toBe(true);
  await auth.invalidate(token);
  expect(await auth.reset()).toEqual({ tokenId: 'test', retryAt: undefined });
  expect(await auth.retryNow()).toEqual({ ended: [], retryAt: undefined });
  const { id, issuedAt, expiresAt } = token;
  expect(await auth.getUsage()).toMatchObject({
    limit: 150,
    used: 0,
    remaining: 150,
    availableNow: 150,
    refusedUntil: undefined,
    tokens: [{ id, audience: 'test', issuedAt, expiresAt }],
    issuances: [],
    holds: [],
    warnings: [],
  });
  expect(app.get(getServiceAuthToken('billing'))).toBe(auth);
  expect(await auth.for({ audience: 'billing' }).getToken()).toBe(token);
});

test('the token of a test has the scheme that the API wants', async () => {
  const auth = createTestingServiceAuth({ token: 'mine', scheme: 'Zoho-oauthtoken' });
  expect((await auth.getToken()).authorization).toBe('Zoho-oauthtoken mine');
});

test('the token has a value also when none is given', async () => {
  const module = ServiceAuthModule.forTesting();
  // The client and its base URL, and none with a name.
  expect(module.exports).toHaveLength(2);
  const app = await boot({ imports: [module] });
  const { id, value, issuedAt, expiresAt } = await app.get(ServiceAuth).getToken();
  expect({ id, value }).toEqual({ id: 'test', value: 'test-token' });
  expect(expiresAt - issuedAt).toBe(86_400_000);
});

test('with the address of an API of its own, the HttpService sends the token there', async () => {
  const service = await startService();
  const app = await boot({
    imports: [
      ServiceAuthModule.forTesting({ token: 'mine', names: ['billing'], baseUrl: service.baseUrl }),
      ServiceAuthHttpModule.register({ name: 'billing', validateStatus: () => true }),
    ],
  });
  await firstValueFrom(app.get(HttpService, { strict: false }).get('/api/v1/orders'));
  expect(service.apiRequests).toMatchObject([{ path: '/api/v1/orders', bearer: 'invalid' }]);
});

test('a caller who gave up gets the reason of the signal, as from a real client', async () => {
  const reason = new Error('gave up');
  const asked = createTestingServiceAuth().getToken({ signal: AbortSignal.abort(reason) });
  await expect(asked).rejects.toBe(reason);
});

test('as a string the token says what to use, and no header takes it, like a real one', async () => {
  const header = `Bearer ${await createTestingServiceAuth().getToken()}`;
  expect(header).toContain('use token.authorization');
  expect(() => new Headers({ authorization: header })).toThrow(TypeError);
});
