// Core, packed as it is published, on every runtime that it is said to run on. `pnpm check runtimes`
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inParallel } from '@service-auth/test-tools/in-parallel';
import { installPacked } from '@service-auth/test-tools/packages/packed';
import { run as execute } from '@service-auth/test-tools/servers/tools';
import { build } from 'esbuild';
import { type Control, startControl } from './control.ts';
import { runInEdgeRuntime } from './edge.ts';
import { bun, deno, engine, installEngines, isInstalled, miniflare, triedNodes } from './engines.ts';
import { runThroughProxy } from './proxies.ts';
import type { Result } from './suite/cases.ts';
import { coreInWorker, fetchInWorker, fetchWithoutWaitUntil, runInWorker, type WorkerSuite } from './worker.ts';

type Run = (control: Control) => Promise<Result[]>;
/** A runtime, the file without which there is none, and what to do with it. */
type Runtime = [name: string, file: string, run: Run];

const consumer = mkdtempSync(join(tmpdir(), 'service-auth-runtimes-'));
const limitMs = 60_000;
const ours = ['core', 'fetch', 'testing'];

try {
  await installEngines();
  // Deno imports what the manifest names, and nothing else.
  const dependencies = Object.fromEntries(ours.map((name) => [`@service-auth/${name}`, '*']));
  writeFileSync(join(consumer, 'package.json'), JSON.stringify({ dependencies }));
  await installPacked(consumer, ours);
  for (const format of ['esm', 'cjs'] as const) {
    writeFileSync(join(consumer, format === 'esm' ? 'program.mjs' : 'program.cjs'), await bundle('program.ts', format));
  }
  writeFileSync(join(consumer, 'contract.mjs'), await bundle('contract.ts', 'esm'));
  writeFileSync(join(consumer, 'through-proxy.mjs'), await bundle('through-proxy.ts', 'esm'));
  const worker = await bundle('worker.ts', 'esm');
  const script = await bundle('edge.ts', 'iife');
  const edge = engine('@edge-runtime/vm/package.json');
  const workerd = (name: string, date: string, suite: WorkerSuite): Runtime => [
    name,
    miniflare,
    (control) => runInWorker(worker, date, control, suite),
  ];
  const proxied = (file: string, argv: string[], env: Record<string, string>, heeded: number): Run => {
    return () => runThroughProxy(consumer, file, [...argv, 'through-proxy.mjs'], env, heeded);
  };
  const runtimes: Runtime[] = [
    ...triedNodes.flatMap(({ major, file }): Runtime[] => [
      [`Node ${major}`, file, program(file, 'program.mjs')],
      [`Node ${major}, CommonJS`, file, program(file, 'program.cjs')],
      [`Node ${major}, fetch`, file, program(file, 'contract.mjs')],
      // Node 20 heeds no proxy, and none of them heeds ALL_PROXY.
      [`Node ${major}, proxy`, file, proxied(file, [], { NODE_USE_ENV_PROXY: '1' }, major === 20 ? 0 : 3)],
    ]),
    ...triedNodes
      .filter(({ major }) => major >= 24)
      .map(({ major, file }): Runtime => {
        return [`Node ${major} --use-env-proxy`, file, proxied(file, ['--use-env-proxy'], {}, 3)];
      }),
    ['Bun, proxy', bun, proxied(bun, [], {}, 4)],
    ['Deno, proxy', deno, proxied(deno, ['run', '--allow-net', '--no-prompt'], {}, 4)],
    ['Bun', bun, program(bun, 'program.mjs')],
    ['Bun, fetch', bun, program(bun, 'contract.mjs')],
    ['Deno', deno, program(deno, 'run', '--allow-net=127.0.0.1', 'program.mjs')],
    ['Deno, fetch', deno, program(deno, 'run', '--allow-all', 'contract.mjs')],
    ['Edge Runtime of Vercel', edge, (control) => runInEdgeRuntime(edge, script, control)],
    workerd('workerd', '2026-07-01', coreInWorker),
    workerd('workerd, fetch', '2026-07-01', fetchInWorker),
    // Until September 2025 fetch took credentials along to other origins.
    workerd('workerd of 2025, fetch', '2025-07-01', fetchInWorker),
    workerd('workerd, fetch, without waitUntil', '2026-07-01', fetchWithoutWaitUntil),
  ];

  const control = await startControl();
  await inParallel(runtimes, (runtime) => report(...runtime, control));
  await control.close();
} finally {
  rmSync(consumer, { recursive: true, force: true });
}

/** The suite as one file. A worker and a script take our packages with them, programs import them. */
async function bundle(
  entry: 'program.ts' | 'contract.ts' | 'through-proxy.ts' | 'worker.ts' | 'edge.ts',
  format: 'esm' | 'cjs' | 'iife',
): Promise<string> {
  const packed = (path: string) => join(consumer, `node_modules/@service-auth/${path}`);
  const alias = {
    '@service-auth/core/http': packed('core/dist/http/index.js'),
    '@service-auth/core/oauth2': packed('core/dist/oauth2/index.js'),
    '@service-auth/core': packed('core/dist/index.js'),
    '@service-auth/fetch': packed('fetch/dist/index.js'),
  };
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`suite/${entry}`, import.meta.url))],
    bundle: true,
    format,
    platform: 'neutral',
    write: false,
    ...(entry === 'worker.ts' || entry === 'edge.ts'
      ? { external: ['cloudflare:*'], alias }
      : { external: ['@service-auth/*', 'node:*'] }),
  });
  return outputFiles[0]?.text ?? '';
}

/** Runs a program that prints its results and ends by itself. */
function program(command: string, ...argv: string[]): Run {
  return async (control) => {
    const options = { cwd: consumer, timeout: limitMs, env: {} };
    return JSON.parse(await execute(command, [...argv, control.url], options)) as Result[];
  };
}

async function report(name: string, file: string, run: Run, control: Control): Promise<void> {
  if (!isInstalled(name, file)) return;
  const startedAt = performance.now();
  const results = await run(control).catch((error: Error): Result[] => [{ name: 'runs', problem: error.message }]);
  const broken = results.filter(({ problem }) => problem !== undefined);
  const impossible = results.filter(({ impossibleBecause }) => impossibleBecause !== undefined);
  const asked = results.length - impossible.length;
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  console.log(`${name.padEnd(33)} ${asked - broken.length} of ${asked} cases, ${seconds} s`);
  for (const { name, impossibleBecause } of impossible) console.log(`  not ${name}: ${impossibleBecause}`);
  for (const { name, problem } of broken) console.log(`  ${name}: ${problem}`);
  if (broken.length > 0 || asked === 0) process.exitCode = 1;
}
