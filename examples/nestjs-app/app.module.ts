import { Module } from '@nestjs/common';
import { ConfigModule, ConfigService } from '@nestjs/config';
import { TerminusModule } from '@nestjs/terminus';
import { ServiceAuthModule } from '@service-auth/nestjs';
import { ServiceAuthHttpModule } from '@service-auth/nestjs/axios';
import { ServiceAuthHealthIndicator } from '@service-auth/nestjs/terminus';
import { HealthController } from './health.controller.ts';
import { InvoicesModule } from './invoices.module.ts';
import { OrdersController } from './orders.controller.ts';

const variables = [
  'SERVICE_AUTH_URL',
  'SERVICE_BASE_URL',
  'SERVICE_AUTH_AUDIENCE',
  'SERVICE_AUTH_CLIENT_ID',
  'SERVICE_AUTH_CLIENT_SECRET',
  'BILLING_CLIENT_ID',
  'BILLING_CLIENT_SECRET',
];

/** Runs before Nest creates the modules, so that one error names all variables that are missing. A schema of Joi or Zod does the same. */
function validate(env: Record<string, unknown>): Record<string, unknown> {
  const missing = variables.filter((name) => !env[name]);
  if (missing.length > 0) throw new Error(`These variables are not set: ${missing.join(', ')}`);
  return env;
}

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
    ConfigModule.forRoot({ isGlobal: true, validate }),
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
