import 'reflect-metadata';
import { Controller, Get } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { ServiceAuthError } from '@service-auth/core';
import { ServiceAuthExceptionFilter } from '@service-auth/nestjs';
import { expect, onTestFinished, test } from 'vitest';

class OrdersController {
  orders(): never {
    throw new ServiceAuthError('ERR_RATE_LIMITED', 'not now', { retryAt: Date.now() + 600_000 });
  }
}
// The decorators are plain calls, because no tsconfig.json turns them on here.
Controller()(OrdersController);
Get('orders')(OrdersController.prototype, 'orders', {
  ...Object.getOwnPropertyDescriptor(OrdersController.prototype, 'orders'),
});

test('the exception filter for Nest answers 503 with Retry-After on Fastify, too', async () => {
  const module = { module: class AppModule {}, controllers: [OrdersController] };
  const app = await NestFactory.create<NestFastifyApplication>(module, new FastifyAdapter(), { logger: false });
  onTestFinished(() => app.close());
  app.useGlobalFilters(new ServiceAuthExceptionFilter());
  await app.listen(0, '127.0.0.1');
  const response = await fetch(`${await app.getUrl()}/orders`);
  expect(response.status).toBe(503);
  expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(500);
  expect(await response.json()).toEqual({ message: 'Service Unavailable', statusCode: 503 });
});
