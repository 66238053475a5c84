// axios before 1.17, which the adapter refuses: core/http in its place.
//
//   npx --yes pnpm@12 example examples/older-axios.ts
// In your application it is called `axios`.

import { createServiceAuth } from '@service-auth/core';
import { hasAuthorization, isReplayable, sendWithToken } from '@service-auth/core/http';
import { startTestService } from '@service-auth/testing';
import axios, { type AxiosRequestConfig, type AxiosResponse } from 'axios-1-6';

const service = await startTestService();
const auth = createServiceAuth(service.options);

/** Resolves with every answer, a redirect included. Such an axios shows the token to a proxy, so it uses none. */
async function request(config: AxiosRequestConfig & { url: string }): Promise<AxiosResponse> {
  const { url, headers, data } = config;
  if (!auth.covers(url) || hasAuthorization(headers, auth)) return axios.request(config);
  return sendWithToken(auth, {
    send({ authorization }) {
      const changes = { proxy: false, maxRedirects: 0, validateStatus: () => true } as const;
      return axios.request({ ...config, ...changes, headers: { ...headers, Authorization: authorization } });
    },
    isRejected: ({ status }) => status === 401,
    canResend: () => isReplayable(data) || Object.getPrototypeOf(data) === Object.prototype,
    discard() {}, // axios reads every answer to its end
  });
}

const url = `${service.baseUrl}/api/v1/orders`;
console.log(`GET was answered ${(await request({ url })).status}`);
service.revoke('all');
const { status } = await request({ url, method: 'POST', data: { item: 'tea' } });
console.log(`POST was answered ${status}, after ${service.counts.apiRequests} requests`);

console.log(`Tokens issued: ${service.counts.issued}`);
await auth.close();
await service.close();
