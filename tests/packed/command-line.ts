// The tests of the program `service-auth` with the packed one: all of them on the oldest Node that it supports, which shows what is missing
// there, and those of the commands that are used most on the newest one. By day a test whose subject is no process runs the program's `main`
// in the process of Vitest, which is of the same Node. `pnpm check command-line`
import { spawnSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installEngines, isInstalled, nodes } from '@service-auth/runtimes/engines';
import { temporaryFolder } from '@service-auth/test-tools/end-with-this-process';
import { byDay } from '@service-auth/test-tools/night';
import { readPackages, root } from '@service-auth/test-tools/packages/packages';
import { createAll, run } from './consumer.ts';

const [oldest, newest] = [22, 26];
const usedMost = byDay(['token.', 'usage.', 'doctor.', 'stores.', 'serve/serve.'], (name) => name === 'token.');

await installEngines();
const consumer = realpathSync(temporaryFolder(join(tmpdir(), 'service-auth-command-line-')));
await createAll(consumer);
const vitest = join(root, 'node_modules/vitest/vitest.mjs');
const program = join(consumer, 'node_modules/.bin/service-auth');
const published = readPackages().find(({ name }) => name === 'cli')?.manifest.version;
for (const { major, file } of nodes.filter(
  (node) => [oldest, newest].includes(node.major) && isInstalled(`Node ${node.major}`, node.file),
)) {
  const version = (await run(consumer, file, [program, '--version'])).trim();
  if (version !== published) throw new Error(`service-auth --version says ${version}, not ${published}`);
  console.log(`Node ${major}:`);
  const files = (major === oldest ? [''] : usedMost).map((name) => `packages/cli/test/${name}`);
  const env = { ...process.env, SERVICE_AUTH_PROGRAM: realpathSync(program), SERVICE_AUTH_NODE: file };
  const { status } = spawnSync(file, [vitest, 'run', '--project=command-line', ...files], {
    cwd: root,
    env,
    stdio: 'inherit',
  });
  if (status !== 0) process.exitCode = 1;
}
