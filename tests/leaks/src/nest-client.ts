import 'reflect-metadata';
import { HttpService } from '@nestjs/axios';
import { ConsoleLogger, Controller, Get, Inject } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { HealthCheckService, TerminusModule } from '@nestjs/terminus';
import type { ServiceAuthOptions } from '@service-auth/core';
import { ServiceAuth, ServiceAuthModule } from '@service-auth/nestjs';
import { ServiceAuthHttpModule } from '@service-auth/nestjs/axios';
import { ServiceAuthHealthIndicator } from '@service-auth/nestjs/terminus';
import { firstValueFrom } from 'rxjs';
import type { Client, Deadline } from './client.ts';

/** Passes every failure on to Nest, as most applications do. */
class Orders {
  readonly #http: HttpService;
  readonly #health: HealthCheckService;
  readonly #indicator: ServiceAuthHealthIndicator;

  constructor(http: HttpService, health: HealthCheckService, indicator: ServiceAuthHealthIndicator) {
    this.#http = http;
    this.#health = health;
    this.#indicator = indicator;
  }

  async orders(): Promise<unknown> {
    return (await firstValueFrom(this.#http.get('/orders'))).data;
  }

  health(): Promise<unknown> {
    return this.#health.check([() => this.#indicator.isHealthy('service')]);
  }
}

// Decorators as plain calls, for Node strips types and not decorators.
Controller()(Orders);
for (const name of ['orders', 'health'] as const) {
  const method = Object.getOwnPropertyDescriptor(Orders.prototype, name);
  Get(name)(Orders.prototype, name, method as PropertyDescriptor);
}
for (const [index, token] of [HttpService, HealthCheckService, ServiceAuthHealthIndicator].entries()) {
  Inject(token)(Orders, undefined, index);
}

/** An application that logs what happens to it, and serves what its controller gets from the API. `warmUp`: its start waits for a token. */
export async function connectNest(options: ServiceAuthOptions, warmUp: boolean, json: boolean): Promise<Client> {
  const module = {
    module: class AppModule {},
    imports: [ServiceAuthModule.forRoot({ ...options, warmUp }), ServiceAuthHttpModule.register(), TerminusModule],
    controllers: [Orders],
    providers: [ServiceAuthHealthIndicator],
  };
  const logger = new ConsoleLogger({ json, colors: false });
  const app = await NestFactory.create(module, { logger, abortOnError: false });
  await app.listen(0, '127.0.0.1');
  const http = app.get(HttpService, { strict: false });
  const served = async (path: string): Promise<string> => (await fetch(`${await app.getUrl()}/${path}`)).text();
  return {
    auth: app.get(ServiceAuth),
    hidesRequest: true,
    async get(url, { signal, timeoutMs: timeout }: Deadline) {
      const deadline = { ...(signal && { signal }), ...(timeout && { timeout }) };
      const { status, data, headers, config } = await firstValueFrom(http.get(url, deadline));
      return [status, data, headers, config];
    },
    visit: async () => [await served('orders'), await served('health')],
    close: () => app.close(),
  };
}
