// An axios application as there are many, and the line that authenticates it.
//
//   npx --yes pnpm@12 example examples/axios-existing-app.ts
//
// Runs against a service on loopback; with SERVICE_AUTH_URL and the other variables set, against the real one.
import { attachServiceAuth } from '@service-auth/axios';
import { createServiceAuthFromEnv } from '@service-auth/core';
import { startTestService } from '@service-auth/testing';
import axios from 'axios';
import axiosRetry from 'axios-retry';

const service = process.env['SERVICE_AUTH_URL'] ? undefined : await startTestService();
const env = service?.env ?? process.env;

// The application as it was: an instance, an interceptor, retries, calls all over the code.
const api = axios.create({ baseURL: `${env['SERVICE_BASE_URL']}/api/v1`, timeout: 10_000 });
api.interceptors.response.use(undefined, (error) => {
  console.log(`${error.config.method.toUpperCase()} ${api.getUri(error.config)}: ${error.message}`);
  throw error;
});
axiosRetry(api, { retries: 1 });
async function ask(): Promise<string> {
  const { status } = await api.get('/', { validateStatus: (code) => code < 500 });
  return `GET ${api.defaults.baseURL}/ was answered ${status}`;
}

// These two lines are new.
const auth = createServiceAuthFromEnv(env, { onEvent: ({ type }) => console.log(`event ${type}`) });
attachServiceAuth(api, auth);

console.log(`Against ${service ? 'a service on loopback' : 'the service that the environment names'}:`);
for (const answer of await Promise.all([ask(), ask(), ask()])) console.log(answer);

if (service) {
  console.log('The service revokes the token:');
  service.revoke('all');
  console.log(await ask());
  console.log('The API fails once:');
  service.api.next({ status: 503 });
  console.log(await ask());
}

const { used, usable } = await auth.getUsage();
console.log(`Tokens spent: ${used} of ${usable}`);
await auth.close();
await service?.close();
