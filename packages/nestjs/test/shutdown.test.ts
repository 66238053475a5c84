import { HttpService } from '@nestjs/axios';
import { Controller, Get, Inject } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ServiceAuth, ServiceAuthModule } from '@service-auth/nestjs';
import { ServiceAuthHttpModule } from '@service-auth/nestjs/axios';
import { startService } from '@service-auth/test-support/service';
import { firstValueFrom } from 'rxjs';
import { expect, test } from 'vitest';

@Controller('orders')
class OrdersController {
  readonly http: HttpService;
  constructor(@Inject(HttpService) http: HttpService) {
    this.http = http;
  }
  @Get()
  async list(): Promise<string> {
    const { data } = await firstValueFrom(this.http.get('/api/v1/orders'));
    return data.bearer;
  }
}

test('a request that waits for its token while the application shuts down is answered; then the client is closed', async () => {
  const service = await startService();
  class AppModule {}
  const app = await NestFactory.create(
    {
      module: AppModule,
      imports: [ServiceAuthModule.forRoot(service.options), ServiceAuthHttpModule.register({})],
      controllers: [OrdersController],
    },
    { logger: false },
  );
  await app.listen(0, '127.0.0.1');
  const auth = app.get(ServiceAuth);
  const paused = service.tokenEndpoint.pauseNext();
  // Closed at once, for Express would wait for the connection to be given up.
  const answer = fetch(`${await app.getUrl()}/orders`, { headers: { connection: 'close' } });
  await paused.arrived;

  const closed = app.close();
  paused.resume();
  expect(await (await answer).text()).toBe('valid');
  await closed;
  await expect(auth.getToken()).rejects.toMatchObject({ code: 'ERR_CLOSED' });
  expect(service.counts).toMatchObject({ issued: 1, apiRequests: 1 });
});
