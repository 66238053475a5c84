// The example for Cloudflare Workers with our packages as they are published: built by wrangler, and fifty copies started at once in workerd. Then the record is
// read as people on call do it. `pnpm check workers`
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '@service-auth/test-tools/packages/packages';
import { installPacked } from '@service-auth/test-tools/packages/packed';
import { run as execute } from '@service-auth/test-tools/servers/tools';
import { type Ask, startCold } from './cold-starts.ts';
import { engine, installEngines } from './engines.ts';

const copies = 50;
const onCallKey = 'a key of no value';
const home = realpathSync(mkdtempSync(join(tmpdir(), 'service-auth-workers-')));
const wrangler = engine('wrangler/bin/wrangler.js');

try {
  await installEngines();
  // The example in a folder of its own, with our packages and no others.
  cpSync(join(root, 'examples/cloudflare-worker'), home, { recursive: true });
  await installPacked(home, ['core', 'fetch', 'cloudflare']);
  await run(process.execPath, [wrangler, 'types']);
  await run('tsc', ['--project', '.', '--pretty', 'false']);
  await run(process.execPath, [wrangler, 'deploy', '--dry-run', '--outdir', 'dist']);
  const script = readFileSync(join(home, 'dist/index.js'), 'utf8');
  const issued = await startCold(script, copies, { ON_CALL_KEY: onCallKey }, readOnCall);
  console.log(`${copies} cold starts at once: ${issued} token, and each is served. The record can be read on call.`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  rmSync(home, { recursive: true, force: true });
}

/** Reads the record by the routes of the Worker, and has the command line explain it. */
async function readOnCall(ask: Ask, env: Readonly<Record<string, string>>): Promise<void> {
  for (const headers of [{}, { authorization: 'Bearer undefined' }]) {
    for (const path of ['usage', 'record']) assert.equal((await ask(`/service-auth/${path}`, headers)).status, 404);
  }
  const headers = { authorization: `Bearer ${onCallKey}` };
  const usage = (await (await ask('/service-auth/usage', headers)).json()) as { used: number };
  assert.equal(usage.used, 1);
  const record = await (await ask('/service-auth/record', headers)).text();
  const { SERVICE_AUTH_CLIENT_SECRET = '', SERVICE_AUTH_URL = '', SERVICE_AUTH_CLIENT_ID = '' } = env;
  assert.ok(
    !`${JSON.stringify(usage)}${record}`.includes(SERVICE_AUTH_CLIENT_SECRET),
    'a route shows the client secret',
  );
  writeFileSync(join(home, 'record.txt'), record);
  const program = ['--conditions=@service-auth/source', join(root, 'packages/cli/src/service-auth.ts')];
  const client = ['--auth-url', SERVICE_AUTH_URL, '--client-id', SERVICE_AUTH_CLIENT_ID, '--store', 'file:./copy'];
  await run(process.execPath, [...program, 'record', 'import', 'record.txt', '--complete', ...client]);
  const shown = await run(process.execPath, [...program, 'usage', '--json', ...client]);
  assert.equal((JSON.parse(shown) as { used: number }).used, 1);
  const explained = await run(process.execPath, [...program, 'explain', ...client]);
  assert.match(explained.replaceAll('\n', ' '), /1 of 120 usable tokens is spent/);
}

/** Returns what the command printed. */
function run(command: string, argv: string[]): Promise<string> {
  const env = { ...process.env, HOME: home, CI: 'true', WRANGLER_SEND_METRICS: 'false' };
  return execute(command, argv, { cwd: home, env, timeout: 180_000 });
}
