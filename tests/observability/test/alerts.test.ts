import { readFileSync } from 'node:fs';
import { createServiceAuth } from '@service-auth/core';
import { redisStore } from '@service-auth/redis';
import { startRedis } from '@service-auth/test-tools/servers/redis';
import { startTestService } from '@service-auth/testing';
import { createClient } from 'redis';
import { expect, onTestFinished, test } from 'vitest';
import { dashboard } from '../dashboard.ts';
import { promtool, startPrometheus } from '../prometheus.ts';
import { startMember } from '../start-member.ts';

const minute = 60_000;
const folder = new URL('../../../docs/observability/', import.meta.url);
const rules = readFileSync(new URL('prometheus-rules.yaml', folder), 'utf8');
/** The rules without their patience: a window of this test lasts a minute. */
const impatient = rules.replace(/for: \d+m/g, 'for: 0s').replaceAll('[5m]', '[10s]');
// With a reserve, a record that begins anew gives little for eight minutes.
const limit = { tokens: 40, windowMs: minute };
const reserve = 0;

test('the dashboard is the one that its program writes', () => {
  const written = readFileSync(new URL('grafana-dashboard.json', folder), 'utf8');
  expect(JSON.parse(written), 'Run: node tests/observability/dashboard.ts').toEqual(dashboard);
});

test('promtool accepts the rules', async () => {
  expect(await promtool('check', 'rules', new URL('prometheus-rules.yaml', folder).pathname)).toContain(
    'SUCCESS: 6 rules found',
  );
});

test('each alert fires in its trouble and ends after it, in a fleet of six processes', {
  timeout: 10 * minute,
}, async () => {
  const service = await startTestService({ issuanceLimit: limit });
  onTestFinished(() => service.close());
  await using redis = await startRedis({ appendonly: 'yes' });
  const start = async (url: string) => {
    const member = await startMember(service, url, { SERVICE_AUTH_RESERVE: `${reserve}` });
    onTestFinished(() => member[Symbol.asyncDispose]());
    return member;
  };
  const members = await Promise.all([1, 2, 3, 4, 5].map(() => start(redis.url)));
  const sixth = await start(`${redis.url}/1`);
  const ports = [...members, sixth].map(({ port }) => port);
  await using prometheus = await startPrometheus(ports, impatient);
  const client = createClient({ url: redis.url });
  client.on('error', () => {}); // Redis ends before the client.
  await client.connect();
  onTestFinished(() => client.destroy());
  const auth = createServiceAuth({
    ...service.options,
    store: redisStore(client),
    issuanceLimit: { ...limit, reserve },
  });
  onTestFinished(() => auth.close());
  const poll = { timeout: 3 * minute, interval: 500 };
  const fires = (name: string) => expect.poll(() => prometheus.firing(), poll).toContain(name);
  const ends = (name: string) => expect.poll(() => prometheus.firing(), poll).not.toContain(name);

  await fires('ServiceAuthTwoRecords');
  await sixth[Symbol.asyncDispose]();
  await ends('ServiceAuthTwoRecords');

  service.tokenEndpoint.always({ status: 503 });
  await auth.reset();
  await fires('ServiceAuthCallersRefused');
  await fires('ServiceAuthRenewalFails');
  service.tokenEndpoint.clear();
  await auth.retryNow();
  await ends('ServiceAuthRenewalFails');
  await ends('ServiceAuthCallersRefused');

  service.api.always({ status: 401 });
  await fires('ServiceAuthTokensRejected');
  service.api.clear();

  while ((await auth.getUsage()).available.reset > 0) {
    await auth.reset();
    await auth.getToken();
  }
  await fires('ServiceAuthBudgetLow');
  await fires('ServiceAuthBudgetSpentSoon');
  const queries = Array.from(JSON.stringify(dashboard).matchAll(/"expr":("(?:[^"\\]|\\.)*")/g), ([, text = '']) =>
    (JSON.parse(text) as string).replaceAll('$job', 'orders').replaceAll('$__rate_interval', '3m'),
  );
  const empty: string[] = [];
  for (const query of queries) if ((await prometheus.query(query)) === 0) empty.push(query);
  expect([queries.length, empty]).toEqual([15, []]);

  for (const name of ['ServiceAuthBudgetLow', 'ServiceAuthBudgetSpentSoon', 'ServiceAuthTokensRejected'])
    await ends(name);
  expect(service.counts.refused).toBe(0);
  expect(await prometheus.firing()).toEqual([]);
});
