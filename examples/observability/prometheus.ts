// Shows the metrics of a client at http://localhost:9464/metrics, and asks for a token every second:
//
//   npx --yes pnpm@12 example examples/observability/prometheus.ts
import { setInterval } from 'node:timers/promises';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { createServiceAuthFromEnv } from '@service-auth/core';
import { instrumentServiceAuth } from '@service-auth/opentelemetry';
import { storeFromEnv } from '../store-from-env.ts';

const exporter = new PrometheusExporter({ host: '127.0.0.1', port: Number(process.env['METRICS_PORT'] ?? 9464) });
const { store } = await storeFromEnv(process.env);
const auth = createServiceAuthFromEnv(process.env, { store });
instrumentServiceAuth(auth, { meterProvider: new MeterProvider({ readers: [exporter] }) });

for await (const _ of setInterval(1_000)) {
  await auth.getToken().catch((error: Error) => console.error(error.message));
}
