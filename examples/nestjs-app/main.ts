// A NestJS application that calls the service's API: its own orders, and the invoices of another client.
//
// In a project of yours, copy this folder and:
//
//   npm install @nestjs/axios @nestjs/common @nestjs/config @nestjs/core @nestjs/platform-express @nestjs/terminus axios reflect-metadata rxjs
//   npm install @service-auth/axios @service-auth/core @service-auth/nestjs
//   npm install --save-dev typescript @types/node
//   npx tsc --project . && node dist/main.js
//
// The environment, or a file .env, has SERVICE_AUTH_URL, SERVICE_BASE_URL, SERVICE_AUTH_AUDIENCE, SERVICE_AUTH_CLIENT_ID and
// SERVICE_AUTH_CLIENT_SECRET, for the invoices BILLING_CLIENT_ID and BILLING_CLIENT_SECRET, and PORT (default 3000).
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.ts';

async function start(): Promise<void> {
  const app = await NestFactory.create(AppModule);
  // On SIGTERM: requests that came in are answered first, then the clients are closed.
  app.enableShutdownHooks();
  await app.listen(process.env['PORT'] ?? 3000);
  console.log(`Listening on ${await app.getUrl()}`);
}

void start();
