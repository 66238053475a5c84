// A NestJS application whose instances share one token in Redis.
//
// In a project of yours, copy this folder and:
//
//   npm install @nestjs/axios @nestjs/common @nestjs/core @nestjs/platform-express axios redis reflect-metadata rxjs
//   npm install @service-auth/axios @service-auth/core @service-auth/nestjs @service-auth/redis
//   npm install --save-dev typescript @types/node
//   npx tsc --project . && node dist/main.js
//
// The environment has SERVICE_AUTH_URL, SERVICE_BASE_URL, SERVICE_AUTH_AUDIENCE, SERVICE_AUTH_CLIENT_ID and SERVICE_AUTH_CLIENT_SECRET,
// REDIS_URL (default redis://127.0.0.1:6379) and PORT (default 3000).
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.ts';

async function start(): Promise<void> {
  const app = await NestFactory.create(AppModule);
  // On SIGTERM or SIGINT: requests that came in are answered first, then the client and the connection are closed.
  app.enableShutdownHooks();
  await app.listen(process.env['PORT'] ?? 3000);
  console.log(`Listening on ${await app.getUrl()}`);
}

void start();
