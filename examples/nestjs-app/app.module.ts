import { Module } from '@nestjs/common';
import { ConfigModule, ConfigService } from '@nestjs/config';
import { TerminusModule } from '@nestjs/terminus';
import { ServiceAuthHttpModule, ServiceAuthModule } from '@service-auth/nestjs';
import { ServiceAuthHealthIndicator } from '@service-auth/nestjs/terminus';
import { HealthController } from './health.controller.ts';
import { InvoicesModule } from './invoices.module.ts';
import { OrdersController } from './orders.controller.ts';

/** The settings of both clients. */
function service(config: ConfigService) {
  return {
    authUrl: config.getOrThrow<string>('SERVICE_AUTH_URL'),
    baseUrl: config.getOrThrow<string>('SERVICE_BASE_URL'),
    audience: config.getOrThrow<string>('SERVICE_AUTH_AUDIENCE'),
  };
}

@Module({
  imports: [
    ConfigModule.forRoot({ isGlobal: true }),
    // The client that is injected by the class ServiceAuth …
    ServiceAuthModule.forRootAsync({
      inject: [ConfigService],
      useFactory: (config: ConfigService) => ({
        ...service(config),
        clientId: config.getOrThrow<string>('SERVICE_AUTH_CLIENT_ID'),
        clientSecret: config.getOrThrow<string>('SERVICE_AUTH_CLIENT_SECRET'),
      }),
    }),
    // … and another one, with a budget of its own. Its name stands beside the factory, not in what the factory returns.
    ServiceAuthModule.forRootAsync({
      name: 'billing',
      inject: [ConfigService],
      useFactory: (config: ConfigService) => ({
        ...service(config),
        clientId: config.getOrThrow<string>('BILLING_CLIENT_ID'),
        clientSecret: config.getOrThrow<string>('BILLING_CLIENT_SECRET'),
      }),
    }),
    // HttpService with the token attached; its baseURL is the client's baseUrl.
    ServiceAuthHttpModule.register({ timeout: 10_000 }),
    TerminusModule,
    InvoicesModule,
  ],
  controllers: [OrdersController, HealthController],
  providers: [ServiceAuthHealthIndicator],
})
export class AppModule {}
