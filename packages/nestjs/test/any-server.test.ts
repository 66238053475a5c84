import { ConfigModule, ConfigService } from '@nestjs/config';
import { clientSecretBasic, privateKeyJwt } from '@service-auth/core/oauth2';
import { ServiceAuth, ServiceAuthModule } from '@service-auth/nestjs';
import { startTestService } from '@service-auth/testing';
import { expect, test } from 'vitest';
import { boot } from './support/boot.ts';

test('forRoot takes a token endpoint, a scope and Basic', async () => {
  await using service = await startTestService({ clientAuthentication: 'client_secret_basic' });
  const { clientId, clientSecret } = service.credentials;
  const app = await boot({
    imports: [
      ServiceAuthModule.forRoot({
        tokenEndpoint: `${service.url}/oauth/token`,
        baseUrl: service.baseUrl,
        clientId,
        clientSecret,
        clientAuthentication: clientSecretBasic(),
        scope: ['write', 'read'],
      }),
    ],
  });
  const tokens = await Promise.all(Array.from({ length: 10 }, () => app.get(ServiceAuth).getToken()));
  expect(new Set(tokens.map(({ id }) => id)).size).toBe(1);
  expect(service.tokenRequests.map(({ outcome }) => outcome)).toEqual(['issued']);
  const { issuances } = await app.get(ServiceAuth).getUsage();
  expect(issuances.map(({ audience }) => audience)).toEqual(['scope=read write']);
});

test('forRootAsync takes a private key in place of the secret', async () => {
  await using service = await startTestService({ clientAuthentication: 'private_key_jwt' });
  const { SERVICE_AUTH_URL: url, SERVICE_AUTH_ISSUER: issuer, SERVICE_AUTH_PRIVATE_KEY: key } = service.env;
  const app = await boot({
    imports: [
      ServiceAuthModule.forRootAsync({
        imports: [ConfigModule.forFeature(async () => ({ url, issuer, key }))],
        inject: [ConfigService],
        useFactory: (config: ConfigService) => ({
          tokenEndpoint: `${config.getOrThrow('url')}/oauth/token`,
          issuer: config.getOrThrow<string>('issuer'),
          baseUrl: service.baseUrl,
          clientId: service.credentials.clientId,
          clientAuthentication: privateKeyJwt({ key: config.getOrThrow<string>('key') }),
        }),
      }),
    ],
  });
  expect((await app.get(ServiceAuth).getToken()).authorization).toMatch(/^Bearer /);
  expect(service.tokenRequests.map(({ outcome }) => outcome)).toEqual(['issued']);
});
