import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { run, telemetryVersions, write } from '../consumer.ts';

const nodes = inject('nodes');
// The oldest API and SDK that the package admits, and the newest ones: the package of traces, and the oldest Node of the SDK.
const sdks = [
  { traces: '@opentelemetry/sdk-trace-base', oldestNode: 20 },
  { traces: '@opentelemetry/sdk-trace', oldestNode: 22 },
] as const;

test.each(sdks.map((sdk, index) => ({ ...sdk, source: telemetryVersions[index], index })))(
  'what is imported and what is required is measured and traced with the versions of $source',
  { timeout: 120_000 },
  async ({ traces, oldestNode, index }) => {
    const folder = join(inject('consumers'), `telemetry-${index}`);
    const ours = ['core', 'opentelemetry', 'testing'].map((name) => `@service-auth/${name}`);
    const loaded = [...ours, '@opentelemetry/sdk-metrics', traces];
    write(
      folder,
      'program.mjs',
      programOf(loaded, (name) => `await import('${name}')`),
    );
    write(
      folder,
      'program.cjs',
      programOf(loaded, (name) => `require('${name}')`),
    );
    const able = nodes.filter(({ major }) => major >= oldestNode);
    expect(able).not.toEqual([]);
    for (const { file } of able)
      for (const program of ['program.mjs', 'program.cjs']) await run(folder, file, [program]);
  },
);

/** A program that gets a token, and ends with an error unless it is measured and traced. */
function programOf(loaded: readonly string[], load: (name: string) => string): string {
  return `(async () => {
    const [core, telemetry, testing, metrics, traces] = [${loaded.map(load).join(', ')}];
    const service = await testing.startTestService();
    const auth = core.createServiceAuth(service.options);
    class Reader extends metrics.MetricReader {
      async onForceFlush() {}
      async onShutdown() {}
    }
    const reader = new Reader();
    const spans = [];
    const processor = { onStart() {}, onEnd: (span) => spans.push(span.name), forceFlush: async () => {}, shutdown: async () => {} };
    const TracerProvider = traces.TracerProvider ?? traces.BasicTracerProvider;
    const end = telemetry.instrumentServiceAuth(auth, {
      meterProvider: new metrics.MeterProvider({ readers: [reader] }),
      tracerProvider: new TracerProvider({ spanProcessors: [processor] }),
    });
    await auth.getToken();
    const { resourceMetrics, errors } = await reader.collect();
    if (errors.length > 0) throw errors[0];
    const points = new Map(
      resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics.map(({ descriptor, dataPoints }) => [descriptor.name, dataPoints])),
    );
    const issued = points.get('service_auth.budget.usage')?.find(({ attributes }) => attributes.state === 'issued')?.value;
    const requests = points.get('service_auth.token.request.duration')?.[0]?.value.count;
    if (issued !== 1 || requests !== 1) throw new Error('measured: ' + [...points.keys()] + '; issued: ' + issued);
    if (spans.join() !== 'service_auth.acquire') throw new Error('traced: ' + spans);
    end();
    await auth.close();
    await service.close();
  })().catch((error) => {
    console.error(error);
    process.exit(1);
  });`;
}
