// Builds the site below a path, as GitHub Pages has it, and runs its tests, in a real browser too. `pnpm check site`
import { spawnSync } from 'node:child_process';
import { root } from '../tests/support/tools/packages/packages.ts';
import { packAll } from '../tests/support/tools/packages/packed.ts';

function run(command: string, argv: readonly string[]): void {
  const env = { ...process.env, SITE_URL: 'https://example.com/service-auth' };
  const { status } = spawnSync(command, argv, { cwd: root, env, stdio: 'inherit', timeout: 900_000 });
  if (status !== 0) process.exit(status ?? 1);
}

// The budget of the start page runs the built core.
await packAll();
run('docs/node_modules/.bin/vitepress', ['build', 'docs']);
run('vitest', ['run', '--project=site']);
