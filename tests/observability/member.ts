// One process of a fleet: it sends a request to the API all the time, and shows its metrics to Prometheus.
import { setTimeout as delay } from 'node:timers/promises';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { createServiceAuthFromEnv } from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';
import { instrumentServiceAuth } from '@service-auth/opentelemetry';
import { redisStore } from '@service-auth/redis';
import { createClient } from 'redis';

const client = createClient({ url: process.env['REDIS_URL'] ?? '' });
client.on('error', () => {}); // Core reports it as the event store_failed.
await client.connect();
const auth = createServiceAuthFromEnv(process.env, {
  store: redisStore(client),
  baseUrl: process.env['SERVICE_BASE_URL'],
});
const exporter = new PrometheusExporter({ host: '127.0.0.1', port: Number(process.env['METRICS_PORT']) });
instrumentServiceAuth(auth, { meterProvider: new MeterProvider({ readers: [exporter] }) });
const fetchOrders = createAuthFetch(auth);

process.once('disconnect', () => process.exit());
for (;;) {
  const response = await fetchOrders(`${process.env['SERVICE_BASE_URL']}/api/v1/orders`).catch(() => undefined);
  await response?.text();
  await delay(200);
}
