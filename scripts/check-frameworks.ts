// Core and the fetch adapter, packed as they are published, in applications of other frameworks and in bundlers. `pnpm check frameworks`
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { packAll } from './pack.ts';
import { readPackages, root } from './packages.ts';

execFileSync('pnpm', ['install', '--frozen-lockfile', '--dir', join(root, 'tests/interop/frameworks')], {
  stdio: 'pipe',
});
const packed = packAll(readPackages().filter(({ name }) => ['core', 'fetch', 'file', 'testing'].includes(name)));
const argv = ['run', '--coverage.enabled=false', ...process.argv.slice(2)];
const env = { ...process.env, PACKED: JSON.stringify([...packed]) };
process.exitCode = spawnSync('vitest', argv, { cwd: root, env, stdio: 'inherit' }).status ?? 1;
