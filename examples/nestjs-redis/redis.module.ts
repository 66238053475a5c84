import { Inject, Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { ServiceAuth } from '@service-auth/nestjs';
import { createClient } from 'redis';

/** The injection token of the connection to Redis. */
export const redisToken = Symbol('redis');

function connect() {
  const client = createClient({ url: process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379' });
  // Without a handler Node ends the process when Redis is down.
  client.on('error', (error) => console.error(error.message || error.code));
  // Nobody need wait for it: the first request does.
  client.connect().catch(() => {});
  return client;
}

@Module({ providers: [{ provide: redisToken, useFactory: connect }], exports: [redisToken] })
export class RedisModule {}

/** Closes the connection at shutdown. The client of Service Auth goes first, because it may still have something to write. */
@Injectable()
export class RedisShutdown implements OnApplicationShutdown {
  constructor(
    private readonly auth: ServiceAuth,
    @Inject(redisToken) private readonly redis: ReturnType<typeof connect>,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await this.auth.close();
    this.redis.destroy();
  }
}
