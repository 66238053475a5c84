import { attachServiceAuth } from '@service-auth/axios';
import {
  createServiceAuth,
  createServiceAuthFromEnv,
  isServiceAuthError,
  memoryStore,
  type ServiceAuthEvent,
} from '@service-auth/core';
import { startTestService } from '@service-auth/testing';
import axios from 'axios';
import { showFleet } from './fleet.ts';
import { createScreen } from './screen.ts';

const screen = createScreen(process.stdout);
const number = (value: number) => value.toLocaleString('en');

try {
  await (process.env['SERVICE_AUTH_URL'] ? showRealService() : showTestService());
} catch (error) {
  if (!isServiceAuthError(error)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

/** The first two acts, gently, against the service that the environment names. */
async function showRealService(): Promise<void> {
  screen.heading(
    `SERVICE_AUTH_URL is set: this is the real service. The demo asks it for one token and sends 3 requests.`,
  );
  await using auth = createServiceAuthFromEnv(process.env, { onEvent: (event) => screen.event(describe(event)) });

  screen.act('10,000 callers at once, and no token yet');
  await Promise.all(Array.from({ length: 10_000 }, () => auth.getToken()));
  const { used, usable } = await auth.getUsage();
  screen.result(`All 10,000 have a token. Issued: ${used}. This process may spend ${usable}.`);

  screen.act('3 requests through an axios instance');
  const api = axios.create({ baseURL: process.env['SERVICE_BASE_URL'] ?? '', validateStatus: () => true });
  attachServiceAuth(api, auth);
  for (let request = 1; request <= 3; request++) {
    const { status } = await api.get('/api/v1/');
    screen.event(`GET /api/v1/ was answered ${status}`);
  }
  screen.result('Same token. Unset SERVICE_AUTH_URL to see revocation, failures and the limit on a test service.');
}

async function showTestService(): Promise<void> {
  // One client of the provider that calls many APIs: all of its tokens count towards one limit.
  const audiences = Array.from({ length: 200 }, (_, index) => `https://api-${index}.example`);
  const client = { clientId: 'demo', clientSecret: 'demo-secret-of-no-value', audiences };
  await using service = await startTestService({ clients: [client] });
  const limit = 150;
  const report = () => screen.budget(service.counts.issued, limit);
  const store = memoryStore();
  const onEvent = (event: ServiceAuthEvent) => {
    screen.event(describe(event));
    report();
  };
  await using auth = createServiceAuth({ ...service.options, store, onEvent });

  screen.heading(
    `A token endpoint and an API run on ${service.url}. The endpoint issues at most ${limit} tokens in 24 hours, and counts.`,
  );

  screen.act('10,000 callers at once, and no token yet');
  const tokens = await Promise.all(Array.from({ length: 10_000 }, () => auth.getToken()));
  report();
  screen.result(
    `${number(tokens.length)} callers have a token. Requests to the token endpoint: ${service.counts.tokenRequests}.`,
  );

  screen.act('2,000 requests through an axios app that exists already: one line was added to it');
  const api = axios.create({ baseURL: service.baseUrl });
  attachServiceAuth(api, auth);
  for (let sent = 0; sent < 2_000; sent += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, index) => api.get(`/api/v1/orders/${sent + index}`)));
  }
  report();
  const accepted = service.apiRequests.filter(({ bearer }) => bearer === 'valid').length;
  screen.result(
    `The API received ${number(accepted)} requests with a valid token. Tokens issued: ${service.counts.issued}.`,
  );

  screen.act('The provider revokes the token while 20 requests are sent');
  service.revoke('all');
  const answers = await Promise.all(Array.from({ length: 20 }, () => api.get('/api/v1/orders')));
  report();
  const unauthorized = service.counts.apiUnauthorized;
  screen.result(
    `The API answered 401 ${unauthorized} times, the app got 200 ${answers.every(({ status }) => status === 200) ? 'each time' : 'not each time'}. Tokens issued: ${service.counts.issued}.`,
  );

  screen.act('The API answers 401 to everything, 1,000 times');
  const before = service.counts.issued;
  service.api.always({ status: 401 });
  let failed = 0;
  for (let request = 0; request < 1_000; request++) await api.get('/api/v1/orders').catch(() => failed++);
  service.api.clear();
  report();
  screen.result(
    `The app got 401 ${number(failed)} times, which cost ${service.counts.issued - before} tokens: such renewals are spaced 1, 2, 4 … 60 minutes.`,
  );

  screen.act('Other programs of the company use the same client for 200 more APIs: the limit is reached');
  const quiet = createServiceAuth({ ...service.options, store });
  let denial: unknown;
  for (const audience of audiences) {
    await using other = createServiceAuth({ ...service.options, audience, store });
    denial = await other.getToken().then(report, (error) => error);
    if (denial) break;
  }
  if (!isServiceAuthError(denial) || denial.code !== 'ERR_ISSUANCE_LIMIT') throw denial;
  screen.event(denial.message);
  const usage = await quiet.getUsage();
  screen.event(
    `${usage.limit - usage.usable} tokens are insurance, ${usage.remaining} are kept for reset() of a leaked token`,
  );
  report();
  const stillServed = await api.get('/api/v1/orders');
  screen.result(
    `The endpoint never had to refuse: it counted ${service.counts.issued} issued, ${service.counts.refused} refused. Existing tokens keep working (${stillServed.status}).`,
  );

  screen.act(`8 processes share a directory, and two of them are killed: this act has a service of its own`);
  await showFleet(screen);
}

function describe(event: ServiceAuthEvent): string {
  switch (event.type) {
    case 'token_issued':
      return `token ${event.tokenId} issued (${event.reason}): ${event.used} of ${event.usable} usable are spent`;
    case 'token_rejected':
      return `the API rejected token ${event.tokenId}: ${{ renew: 'asking for another one', replaced: 'another one is in use already', kept: 'too early for another one' }[event.outcome]}`;
    default:
      return event.type.replaceAll('_', ' ');
  }
}
