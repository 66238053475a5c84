import 'reflect-metadata';
import { HttpService } from '@nestjs/axios';
import { Controller, Get, Inject, NotFoundException } from '@nestjs/common';
import { APP_FILTER, NestFactory } from '@nestjs/core';
import { ServiceAuthError } from '@service-auth/core';
import { ServiceAuthExceptionFilter, ServiceAuthModule } from '@service-auth/nestjs';
import { ServiceAuthHttpModule } from '@service-auth/nestjs/axios';
import { startService } from '@service-auth/test-support/service';
import { map, type Observable } from 'rxjs';
import { describe, expect, onTestFinished, test } from 'vitest';

@Controller()
class OrdersController {
  readonly http: HttpService;
  constructor(@Inject(HttpService) http: HttpService) {
    this.http = http;
  }

  @Get('orders')
  orders(): Observable<object> {
    return this.http.get('/api/v1/orders').pipe(map(({ data }) => ({ path: data.path })));
  }

  @Get('impatient')
  impatient(): Observable<object> {
    return this.http.get('/api/v1/orders', { timeout: 300 }).pipe(map(({ data }) => ({ path: data.path })));
  }

  @Get('wrapped')
  wrapped(): never {
    const cause = new ServiceAuthError('ERR_STORE', 'no store', { retryAt: Date.now() });
    throw new Error('a client failed', { cause });
  }

  @Get('missing')
  missing(): never {
    throw new NotFoundException('no such order');
  }

  @Get('broken')
  broken(): never {
    throw new Error('a mistake');
  }
}

/** An application with the filter, registered in one of the two ways. */
async function openApplication(registration: 'globally' | 'as a provider', clientSecret?: () => Promise<string>) {
  const service = await startService();
  const options = { ...service.options, ...(clientSecret && { clientSecret }) };
  const providers = registration === 'globally' ? [] : [{ provide: APP_FILTER, useClass: ServiceAuthExceptionFilter }];
  const imports = [ServiceAuthModule.forRoot(options), ServiceAuthHttpModule.register()];
  const module = { module: class AppModule {}, imports, providers, controllers: [OrdersController] };
  const app = await NestFactory.create(module, { logger: false, abortOnError: false });
  onTestFinished(() => app.close());
  if (registration === 'globally') app.useGlobalFilters(new ServiceAuthExceptionFilter());
  await app.listen(0, '127.0.0.1');
  const url = await app.getUrl();
  return {
    service,
    async get(path: string) {
      const response = await fetch(url + path, { headers: { connection: 'close' } });
      return [response.status, response.headers.get('retry-after'), await response.json()];
    },
  };
}

const unavailable = { message: 'Service Unavailable', statusCode: 503 };

describe.each(['globally', 'as a provider'] as const)('a filter that is registered %s', (registration) => {
  test('answers 503 with Retry-After when there is no token', async () => {
    const { service, get } = await openApplication(registration);
    service.tokenEndpoint.always({ status: 429, headers: { 'retry-after': '120' } });
    const [status, retryAfter, body] = await get('/orders');
    expect([status, body]).toEqual([503, unavailable]);
    expect(Number(retryAfter)).toBeGreaterThan(100);
    expect(await get('/wrapped')).toEqual([503, '1', unavailable]);
  });

  test('answers 503 when the time-out of the HttpService ends a wait for a token', async () => {
    const { service, get } = await openApplication(registration);
    const paused = service.tokenEndpoint.pauseNext();
    expect(await get('/impatient')).toEqual([503, null, unavailable]);
    expect(service.counts.apiRequests).toBe(0);
    paused.resume();
  });

  test('answers 503 when the API rejects the token and the token endpoint gives no other one', async () => {
    const { service, get } = await openApplication(registration);
    expect(await get('/orders')).toEqual([200, null, { path: '/api/v1/orders' }]);
    service.revoke('all');
    service.tokenEndpoint.always({ status: 503 });
    expect(await get('/orders')).toEqual([503, null, unavailable]);
  });

  test('answers 503 with Retry-After when the function for the client secret fails', async () => {
    const { service, get } = await openApplication(registration, () => Promise.reject(new Error('The vault is away.')));
    expect(await get('/orders')).toEqual([503, '1', unavailable]);
    expect(service.counts.tokenRequests).toBe(0);
  });

  test('does not answer 401 when the credentials of the application are wrong', async () => {
    const { service, get } = await openApplication(registration);
    service.setClientSecret('another one');
    expect(await get('/orders')).toEqual([503, expect.stringMatching(/^\d+$/), unavailable]);
  });

  test('leaves every other answer to Nest', async () => {
    const { get } = await openApplication(registration);
    expect(await get('/orders')).toEqual([200, null, { path: '/api/v1/orders' }]);
    expect(await get('/missing')).toMatchObject([404, null, { message: 'no such order' }]);
    expect(await get('/broken')).toMatchObject([500, null, { message: 'Internal server error' }]);
  });
});
