import { HttpService } from '@nestjs/axios';
import { Controller, Get, Module } from '@nestjs/common';
import { optionsFromEnv } from '@service-auth/core';
import { ServiceAuthModule } from '@service-auth/nestjs';
import { ServiceAuthHttpModule } from '@service-auth/nestjs/axios';
import { type RedisClient, redisStore } from '@service-auth/redis';
import { map, type Observable } from 'rxjs';
import { RedisModule, RedisShutdown, redisToken } from './redis.module.ts';

@Controller('orders')
class OrdersController {
  constructor(private readonly http: HttpService) {}

  @Get()
  list(): Observable<unknown> {
    return this.http.get('/api/v1/orders').pipe(map(({ data }) => data));
  }
}

@Module({
  imports: [
    ServiceAuthModule.forRootAsync({
      imports: [RedisModule],
      inject: [redisToken],
      useFactory: (redis: RedisClient) => optionsFromEnv(process.env, { store: redisStore(redis) }),
    }),
    ServiceAuthHttpModule.register({ timeout: 10_000 }),
    RedisModule,
  ],
  controllers: [OrdersController],
  providers: [RedisShutdown],
})
export class AppModule {}
