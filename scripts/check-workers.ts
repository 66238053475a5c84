// The example for Cloudflare Workers with our packages as they are published: built by wrangler, and fifty copies started at once in workerd. `pnpm check workers`
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startCold } from '../tests/runtimes/cold-starts.ts';
import { engine, installEngines } from '../tests/runtimes/engines.ts';
import { packAll } from './pack.ts';
import { readPackages, root } from './packages.ts';

const copies = 50;
const execute = promisify(execFile);
const home = realpathSync(mkdtempSync(join(tmpdir(), 'service-auth-workers-')));
const wrangler = engine('wrangler/bin/wrangler.js');

try {
  installEngines();
  await installExample();
  await run(process.execPath, [wrangler, 'types']);
  await run('tsc', ['--project', '.', '--pretty', 'false']);
  await run(process.execPath, [wrangler, 'deploy', '--dry-run', '--outdir', 'dist']);
  const issued = await startCold(readFileSync(join(home, 'dist/index.js'), 'utf8'), copies);
  console.log(`${copies} cold starts at once: ${issued} token, and each is served.`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  rmSync(home, { recursive: true, force: true });
}

/** The example in a folder of its own, with our packages and no others. */
async function installExample(): Promise<void> {
  cpSync(join(root, 'examples/cloudflare-worker'), home, { recursive: true });
  const packages = readPackages().filter(({ name }) => ['core', 'fetch', 'cloudflare'].includes(name));
  for (const [name, tarball] of packAll(packages)) {
    const folder = join(home, 'node_modules', name);
    mkdirSync(folder, { recursive: true });
    await execute('tar', ['--extract', '--gzip', '--strip-components=1', '--file', tarball, '--directory', folder], {
      timeout: 60_000,
    });
  }
}

async function run(command: string, argv: string[]): Promise<void> {
  const env = { ...process.env, HOME: home, CI: 'true', WRANGLER_SEND_METRICS: 'false' };
  await execute(command, argv, { cwd: home, env, timeout: 180_000 }).catch(({ message, stdout, stderr }) => {
    throw new Error(`${command} ${argv.join(' ')} failed:\n${stdout}${stderr}${message}`);
  });
}
