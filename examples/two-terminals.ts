// Run it in two terminals, and see one token:
//
//   REDIS_URL=redis://127.0.0.1:6379 npx --yes pnpm@12 example examples/two-terminals.ts
//
// POSTGRES_URL takes PostgreSQL instead; without either they share a directory of this machine. The first terminal runs a service on
// loopback, on port 7788 unless PORT says another; with SERVICE_AUTH_URL and the other variables set, both use the real one. Ctrl+C ends it.
import { setTimeout as delay } from 'node:timers/promises';
import { attachServiceAuth } from '@service-auth/axios';
import { createServiceAuthFromEnv, isServiceAuthError } from '@service-auth/core';
import { startTestService, type TestService } from '@service-auth/testing';
import axios from 'axios';
import { storeFromEnv } from './store-from-env.ts';

const port = Number(process.env['PORT'] ?? 7788);
const clientSecret = 'two-terminals-secret-of-no-value';
const client = { clientId: 'two-terminals', clientSecret, audiences: ['https://api.example'] };

const service = process.env['SERVICE_AUTH_URL'] ? undefined : await startUnlessRunning();
const env = process.env['SERVICE_AUTH_URL']
  ? process.env
  : {
      SERVICE_AUTH_URL: `http://127.0.0.1:${port}`,
      SERVICE_BASE_URL: `http://127.0.0.1:${port}`,
      SERVICE_AUTH_AUDIENCE: client.audiences[0],
      SERVICE_AUTH_CLIENT_ID: client.clientId,
      SERVICE_AUTH_CLIENT_SECRET: clientSecret,
    };

const { name, store } = await storeFromEnv(process.env);
console.log(`Process ${process.pid} keeps token and count in ${name}${service ? ', and runs the service' : ''}.`);
const auth = createServiceAuthFromEnv(env, {
  store,
  instance: `process ${process.pid}`,
  onEvent(event) {
    if (event.type === 'token_issued') console.log(`Token ${event.tokenId} was issued to this process.`);
    if (event.type === 'token_adopted') console.log(`Token ${event.tokenId} was there already.`);
    if (event.type === 'store_warning') console.log(event.warning);
    if (event.type === 'ledger_lost') console.log('The store lost its record. It was put back.');
  },
});
const api = axios.create({ baseURL: env['SERVICE_BASE_URL'] ?? '', validateStatus: () => true });
attachServiceAuth(api, auth);

for (;;) {
  try {
    const { status } = await api.get('/api/v1/');
    const counted = service ? `; the service has issued ${service.counts.issued}` : '';
    console.log(`The API answered ${status}; ${(await auth.getUsage()).used} in the count${counted}`);
  } catch (error) {
    console.log(isServiceAuthError(error) ? error.message : 'The API does not answer.');
  }
  await delay(2_000);
}

/** The other terminal may run it already. */
async function startUnlessRunning(): Promise<TestService | undefined> {
  try {
    return await startTestService({ clients: [client], port });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return undefined;
  }
}
