// NestJS in front of an authorization server that wants a form: one client with a secret, and another one with a private key in its place. The
// server is a test service on loopback, so this runs as it is: `pnpm example examples/nestjs-any-server.ts`.
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { clientSecretBasic, privateKeyJwt } from '@service-auth/core/oauth2';
import { getServiceAuthToken, ServiceAuth, ServiceAuthModule } from '@service-auth/nestjs';
import { startTestService } from '@service-auth/testing';

await using basic = await startTestService({ clientAuthentication: 'client_secret_basic' });
await using keys = await startTestService({ clientAuthentication: 'private_key_jwt' });

class AppModule {}
// In a project of yours these are the imports of @Module().
const imports = [
  ServiceAuthModule.forRoot({
    tokenEndpoint: `${basic.url}/oauth/token`,
    clientId: basic.credentials.clientId,
    clientSecret: basic.credentials.clientSecret,
    clientAuthentication: clientSecretBasic(),
    scope: 'orders:read orders:write',
  }),
  ServiceAuthModule.forRootAsync({
    name: 'billing',
    useFactory: async () => ({
      tokenEndpoint: `${keys.url}/oauth/token`,
      // The assertion is addressed to the issuer.
      issuer: `${keys.url}/`,
      clientId: keys.credentials.clientId,
      clientAuthentication: privateKeyJwt({ key: keys.privateKey }),
    }),
  }),
];

const app = await NestFactory.createApplicationContext({ module: AppModule, imports }, { logger: false });
const calls = Array.from({ length: 50 }, () => app.get(ServiceAuth).getToken());
const tokens = new Set((await Promise.all(calls)).map(({ id }) => id));
console.log(`50 calls, ${tokens.size} token, ${basic.counts.issued} issued`);
await app.get<ServiceAuth>(getServiceAuthToken('billing')).getToken();
console.log(`without a secret: ${keys.counts.issued} issued`);
await app.close();
