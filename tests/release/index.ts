// A rehearsal of a release. By night a copy of the tracked files becomes a candidate and then the next version, is built, packed and published, to a registry
// on loopback; by day the packages as they are. From there npm, and by night pnpm, Yarn and Bun, install them into empty projects. `pnpm check release`
import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installEngines } from '../runtimes/engines.ts';
import { isNight } from '../support/tools/night.ts';
import { publishCopy, publishPresent } from './publish.ts';
import { installTools, startRegistry } from './registry.ts';
import { tryAsStrangers } from './strangers.ts';
import { judgeTarballs } from './tarballs.ts';

const startedAt = performance.now();
const tools = fileURLToPath(new URL('tools', import.meta.url));
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'service-auth-release-')));
installTools(tools);
await installEngines();
const registry = await startRegistry(tools, folder);
try {
  const published = await (isNight ? publishCopy : publishPresent)(folder, registry, tell);
  tell(`${published.length} packages of version ${published[0]?.manifest.version} are published`);
  const problems = await judgeTarballs(published);
  if (problems.length === 0) tell('the tarballs have the right entries, types and versions');
  const wrong = await tryAsStrangers({ published, folder: join(folder, 'projects'), tools, env: registry.env });
  if (wrong.length === 0)
    tell(`projects of strangers install and run them: ${isNight ? 'npm, pnpm, Yarn and Bun' : 'npm'}`);
  problems.push(...wrong);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
} finally {
  await registry.close();
  execFileSync('rm', ['-rf', folder]);
}

function tell(step: string): void {
  console.log(`${((performance.now() - startedAt) / 1_000).toFixed(0).padStart(4)} s  ✓ ${step}`);
}
