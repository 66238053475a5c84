// @service-auth/opentelemetry as a stranger has it: packed, with the oldest API and SDK that it admits and with the newest ones, imported and required.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inParallel } from './in-parallel.ts';
import { type Manifest, root } from './packages.ts';
import type { Stranger } from './packed-nestjs.ts';

interface Telemetry {
  /** The folder whose package.json has the versions. */
  readonly source: string;
  readonly api: '@opentelemetry/api';
  readonly metrics: '@opentelemetry/sdk-metrics';
  readonly traces: '@opentelemetry/sdk-trace' | '@opentelemetry/sdk-trace-base';
  /** The oldest Node of this SDK. */
  readonly oldestNode: number;
}

const names = { api: '@opentelemetry/api', metrics: '@opentelemetry/sdk-metrics' } as const;
const versions: readonly Telemetry[] = [
  { ...names, source: 'tests/compat/opentelemetry-2', traces: '@opentelemetry/sdk-trace-base', oldestNode: 20 },
  { ...names, source: 'packages/opentelemetry', traces: '@opentelemetry/sdk-trace', oldestNode: 22 },
];

export async function runTelemetry({ nodes, tarballs, run }: Stranger): Promise<void> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'service-auth-telemetry-')));
  try {
    for (const [index, { source, api, metrics, traces, oldestNode }] of versions.entries()) {
      const folder = join(home, `${index}`);
      mkdirSync(folder);
      const ours = ['core', 'opentelemetry', 'testing'].map((name) => `@service-auth/${name}`);
      const dependencies = {
        ...Object.fromEntries([api, metrics, traces].map((name) => [name, versionOf(source, name)])),
        ...Object.fromEntries(ours.map((name) => [name, `file:${tarballs.get(name)}`])),
      };
      writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
      await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'], folder);
      const loaded = [...ours, metrics, traces];
      writeFileSync(
        join(folder, 'program.mjs'),
        programOf(loaded, (name) => `await import('${name}')`),
      );
      writeFileSync(
        join(folder, 'program.cjs'),
        programOf(loaded, (name) => `require('${name}')`),
      );
      const able = nodes.filter(({ major }) => major >= oldestNode);
      await inParallel(able, async ({ file }) => {
        for (const program of ['program.mjs', 'program.cjs']) await run(file, [program], folder);
      });
      const majors = able.map(({ major }) => major).join(', ');
      console.log(
        `Telemetry with API ${versionOf(source, api)} and SDK ${versionOf(source, metrics)}: Node ${majors}.`,
      );
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function versionOf(source: string, name: string): string {
  const file = join(root, source, 'node_modules', name, 'package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as Manifest).version;
}

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
