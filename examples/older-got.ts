// got 11 to 14.4, for which there is no adapter: core/http in its place.
//
//   npx --yes pnpm@12 example examples/older-got.ts
import { createServiceAuth } from '@service-auth/core';
import { hasAuthorization, isReplayable, sendWithToken } from '@service-auth/core/http';
import { startTestService } from '@service-auth/testing';
// In your application it is called `got`. got 11 is CommonJS, and the import contains it; from got 12 on, the import is it.
import commonjs, { type OptionsOfTextResponseBody, type Response } from 'got-11';

const got = commonjs.default;
const service = await startTestService();
const auth = createServiceAuth(service.options);

/** Resolves with every answer, a redirect included: `throwHttpErrors` and `followRedirect` are off where the token goes. */
async function request(url: string, options: OptionsOfTextResponseBody = {}): Promise<Response<string>> {
  const { headers, body } = options;
  if (!auth.covers(url) || hasAuthorization(headers, auth)) return got(url, options);
  return sendWithToken(auth, {
    send({ authorization }) {
      const changes = { throwHttpErrors: false, followRedirect: false, headers: { ...headers, authorization } };
      return got(url, { ...options, ...changes });
    },
    isRejected: ({ statusCode }) => statusCode === 401,
    canResend: () => isReplayable(body),
    discard() {}, // got reads every answer to its end
  });
}

const orders = `${service.baseUrl}/api/v1/orders`;
console.log(`GET was answered ${(await request(orders)).statusCode}`);
service.revoke('all');
const { statusCode } = await request(orders, { method: 'POST', json: { item: 'tea' } });
console.log(`POST was answered ${statusCode}, after ${service.counts.apiRequests} requests`);

console.log(`Tokens issued: ${service.counts.issued}`);
await auth.close();
await service.close();
