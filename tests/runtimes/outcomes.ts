import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import type { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { certificateFiles } from '@service-auth/test-tools/certificates';
import { run } from '@service-auth/test-tools/servers/tools';
import { bun, deno, miniflare, nodes, startMiniflare } from './engines.ts';
import type { Failures } from './failures.ts';
import type { Measured, Task } from './suite/outcomes.ts';

/** The tasks that a program gets, in order, and what it made of them. */
type Meet = (tasks: readonly Task[], proxy: string) => Promise<Measured[]>;

/** A column of the table: programs that must agree. */
export interface Column {
  readonly title: string;
  readonly programs: readonly Program[];
}

interface Program {
  readonly name: string;
  /** Without it there is no such program on this machine. */
  readonly file: string;
  readonly meet: Meet;
  /** It uses no forward proxy of the environment. */
  readonly withoutProxy?: boolean;
  /** Its client can throw answers of 400 and more. */
  readonly canThrow?: boolean;
}

const limitMs = 120_000;
const newest = process.execPath;

/** All columns. `folder`: where the bundled programs and core are installed. `script`: the bundled worker. */
export function columnsOf(folder: string, script: string): Column[] {
  const program =
    (command: string, before: readonly string[] = [], client: readonly string[] = ['fetch']): Meet =>
    async (tasks, proxy) => {
      const output = await run(command, [...before, 'outcomes.mjs', JSON.stringify(tasks), ...client], {
        cwd: folder,
        timeout: limitMs,
        env: {
          NODE_EXTRA_CA_CERTS: certificateFiles.authority,
          DENO_CERT: certificateFiles.authority,
          NODE_USE_ENV_PROXY: '1',
          HTTPS_PROXY: proxy,
          NO_PROXY: 'localhost,127.0.0.1,does-not-exist.invalid',
        },
      });
      return JSON.parse(output) as Measured[];
    };
  const installed = (name: string, client: string, version: string) => {
    const require = createRequire(new URL(`../../packages/${name}/package.json`, import.meta.url));
    const address = (module: string) => pathToFileURL(require.resolve(module)).href;
    // undici 6.18 has no interceptor that throws.
    const canThrow = version !== 'undici-oldest';
    return { name: version, file: newest, meet: program(newest, [], [client, address(version)]), canThrow };
  };
  return [
    {
      title: 'Node',
      programs: nodes.map(({ major, file }) => {
        return { name: `Node ${major}`, file, meet: program(file), withoutProxy: major < 24 };
      }),
    },
    {
      title: 'undici',
      programs: ['undici-oldest', 'undici-7', 'undici'].map((version) => installed('undici', 'undici', version)),
    },
    {
      title: 'axios, got',
      // Neither client opens a tunnel by itself.
      programs: ['axios', 'got'].map((name) => ({ ...installed(name, name, name), withoutProxy: true })),
    },
    { title: 'Bun', programs: [{ name: 'Bun', file: bun, meet: program(bun) }] },
    {
      title: 'Deno',
      programs: ['fetch', 'given'].map((client) => {
        return { name: `Deno, ${client}`, file: deno, meet: program(deno, ['run', '--allow-all'], [client]) };
      }),
    },
    {
      title: 'workerd',
      programs: [{ name: 'workerd', file: miniflare, meet: inWorker(script), withoutProxy: true }],
    },
  ];
}

/** workerd writes a stack for each failure, which is not asked for. */
function handleRuntimeStdio(...streams: Readable[]): void {
  for (const stream of streams) stream.resume();
}

/** Each task is a request of its own to the worker. */
function inWorker(script: string): Meet {
  return async (tasks) => {
    const workerd = startMiniflare({ modules: true, compatibilityDate: '2026-07-01', script, handleRuntimeStdio });
    try {
      const address = await workerd.ready;
      const measured: Measured[] = [];
      for (const task of tasks) {
        const response = await fetch(address, { method: 'POST', body: JSON.stringify(task) });
        assert.equal(response.status, 200, await response.clone().text());
        measured.push((await response.json()) as Measured);
      }
      return measured;
    } finally {
      await workerd.dispose();
    }
  };
}

/** The cost of a failure in a column: `0`, `1`, `2`; `–`: not tested. */
export type Cells = Map<string, string>;

/** Has one program meet all failures. Throws if the record counts less than was issued, or if a failure was not the one it should be. */
export async function meetAll(
  { title }: Column,
  { name, meet, withoutProxy, canThrow }: Program,
  failures: Failures,
): Promise<Cells> {
  const asked = failures.all.filter(({ proxied, throws }) => !(proxied && withoutProxy) && !(throws && !canThrow));
  const before = asked.map((failure) => failure.arrived());
  const measured = await meet(
    asked.map(({ url, reused, throws }) => ({ url, ...(reused && { reused }), ...(throws && { throws }) })),
    failures.proxy,
  );
  const cells: Cells = new Map(failures.all.map((failure) => [failure.name, '–']));
  for (const [index, failure] of asked.entries()) {
    const { used, result } = measured[index] as Measured;
    const arrived = failure.arrived() - (before[index] ?? 0);
    const what = `${title}, ${name}, ${failure.name}: ${arrived} arrived, ${used} counted, ${result}`;
    assert(used >= arrived, `less counted than issued. ${what}`);
    if (failure.arrives === true && title !== 'workerd') assert(arrived > 0, `nothing arrived. ${what}`);
    if (failure.arrives === false) assert.equal(arrived, 0, what);
    assert(!result.startsWith('foreign'), what);
    cells.set(failure.name, `${used}`);
  }
  return cells;
}

/** The table that the page of HTTP clients and runtimes shows. */
export function render(failures: Failures, columns: readonly Column[], cells: readonly Cells[]): string {
  const rows = failures.all.map(({ name }) => [name, ...cells.map((column) => column.get(name) ?? '')]);
  const head = ['what happens', ...columns.map(({ title }) => title)];
  return textOf({ tables: [{ columns: head, rows }] });
}

/** As `docs/data` has it before it is formatted. */
export function textOf(tables: unknown): string {
  return `${JSON.stringify(tables, null, 2)}\n`;
}
