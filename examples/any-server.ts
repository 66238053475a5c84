// A client in front of an authorization server that wants a form, and another one with a private key in place of the secret. The server is
// a test service on loopback, so this runs as it is: `pnpm example examples/any-server.ts`.
import { createServiceAuth } from '@service-auth/core';
import { clientSecretBasic, privateKeyJwt } from '@service-auth/core/oauth2';
import { startTestService } from '@service-auth/testing';

await using basic = await startTestService({ clientAuthentication: 'client_secret_basic' });
await using withSecret = createServiceAuth({
  tokenEndpoint: `${basic.url}/oauth/token`,
  clientId: basic.credentials.clientId,
  clientSecret: basic.credentials.clientSecret,
  clientAuthentication: clientSecretBasic(),
  scope: 'orders:read orders:write',
});
const calls = Array.from({ length: 50 }, () => withSecret.getToken());
const tokens = new Set((await Promise.all(calls)).map(({ id }) => id));
console.log(`50 calls, ${tokens.size} token, ${basic.counts.issued} issued`);

await using keys = await startTestService({ clientAuthentication: 'private_key_jwt' });
await using withKey = createServiceAuth({
  tokenEndpoint: `${keys.url}/oauth/token`,
  // The assertion is addressed to the issuer.
  issuer: `${keys.url}/`,
  clientId: keys.credentials.clientId,
  clientAuthentication: privateKeyJwt({ key: keys.privateKey }),
});
const { expiresAt } = await withKey.getToken();
console.log(`a token without a secret, valid until ${new Date(expiresAt).toISOString()}`);

// Some providers count requests, refused ones too.
const issuanceLimit = { tokens: 10, windowMs: 10 * 60 * 1000, counts: 'requests' } as const;
await using strict = await startTestService({ issuanceLimit });
await using counting = createServiceAuth({ ...strict.options, clientSecret: 'wrong', issuanceLimit });
await counting.getToken().catch(() => undefined);
console.log(`${(await counting.getUsage()).used} request spent, though it was refused`);
