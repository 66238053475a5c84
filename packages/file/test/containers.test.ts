import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const run = promisify(execFile);
const script = fileURLToPath(new URL('container.ts', import.meta.url));
const node = [process.execPath, '--conditions=@service-auth/source', script];

/** The commands of this machine that can run a program in these namespaces. */
async function findUnshare(options: string[], probe: string): Promise<string[]> {
  for (const command of [['unshare'], ['unshare', '-r'], ['sudo', '-n', 'unshare']]) {
    const [program = '', ...rest] = [...command, ...options, 'sh', '-c', probe];
    if (await run(program, rest).catch(() => undefined)) return command;
  }
  throw new Error(`no containers to test in: unshare ${options.join(' ')} is not allowed here`);
}

const timeNamespaces = await orSkip(() => findUnshare(['-T', '--boottime', '60', '--monotonic', '60'], 'true'));
const mounts = await orSkip(() => findUnshare(['-m'], 'mount --bind /proc/version /proc/uptime'));

let parent: string;
let directory: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'service-auth-containers-'));
  directory = join(parent, 'store');
});
afterEach(() => rm(parent, { recursive: true }));

interface Report {
  readonly issued: number;
  readonly refused: number;
  readonly aheadMs: number;
}

async function runIn(command: string[], name: string, tokens: number): Promise<Report> {
  const [program = '', ...given] = [...command, ...node, directory, name, String(tokens)];
  return JSON.parse((await run(program, given)).stdout);
}

const onMachine = (name: string, tokens = 0) => runIn([], name, tokens);
const inNamespace = (name: string, offsets: string[], tokens = 0) =>
  runIn([...(timeNamespaces ?? []), '-T', ...offsets], name, tokens);

/** Mounts another file over /proc/uptime, as lxcfs does. */
async function withUptime(name: string, uptime: string, tokens = 0): Promise<Report> {
  const file = join(parent, `uptime of ${name}`);
  await writeFile(file, `${uptime} 1.00\n`);
  const mounting = 'mount --bind "$0" /proc/uptime && exec "$@"';
  return runIn([...(mounts ?? []), '-m', 'sh', '-c', mounting, file], name, tokens);
}

/** A new record begins with a fifth of the limit, which is 20. */
const usable = 4;

function expectOneClock(reports: readonly Report[]): void {
  const [first, ...others] = reports.map(({ aheadMs }) => aheadMs);
  for (const aheadMs of others) expect(Math.abs(aheadMs - (first ?? 0))).toBeLessThan(1_500);
}

function expectOneCount(reports: readonly Report[]): void {
  expect(reports.reduce((sum, { issued }) => sum + issued, 0)).toBe(usable);
  expect(reports.at(-1)?.refused).toBeGreaterThan(0);
}

describe.runIf(timeNamespaces)('containers in time namespaces', () => {
  test.each([
    ['that were started at different times', ['--boottime', '100800'], ['--boottime', '201600']],
    ['whose monotonic clocks differ as well', ['--monotonic', '300', '--boottime', '864000'], ['--monotonic', '86400']],
    ['one of which was restarted after 20 hours', ['--boottime', '72000', '--monotonic', '72000'], []],
    [
      'one of which was suspended and resumed',
      ['--boottime', '10', '--monotonic', '10'],
      ['--boottime', '200', '--monotonic', '10'],
    ],
  ])('have one clock and one count: %s', async (_, first, second) => {
    const reports = [
      await inNamespace('first', first, 2),
      await inNamespace('second', second, 1),
      await onMachine('machine'),
      await inNamespace('again', first, 3),
    ];
    expectOneClock(reports);
    expectOneCount(reports);
  });
});

describe.runIf(mounts)('containers with an uptime of their own', () => {
  test('have one clock and one count, with each other and with the machine', async () => {
    const reports = [
      await withUptime('first', '100800.00', 2),
      await withUptime('second', '3.00', 1),
      await onMachine('machine'),
      await withUptime('third', '864000.00', 3),
    ];
    expectOneClock(reports);
    expectOneCount(reports);
  });

  test('go on with the clock of the machine', async () => {
    expectOneClock([
      await onMachine('machine'),
      await withUptime('first', '9.00'),
      await withUptime('second', '99999.00'),
    ]);
  });
});
