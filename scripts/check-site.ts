// Builds the site below a path, as GitHub Pages has it, and runs its tests, in a real browser too. `pnpm check site`
import { spawnSync } from 'node:child_process';
import { root } from './packages.ts';

function run(command: string, argv: readonly string[]): void {
  const env = { ...process.env, SITE_URL: 'https://example.com/service-auth' };
  const { status } = spawnSync(command, argv, { cwd: root, env, stdio: 'inherit', timeout: 900_000 });
  if (status !== 0) process.exit(status ?? 1);
}

run('turbo', ['run', 'build', '--filter=@service-auth/core', '--output-logs=errors-only']);
run('docs/node_modules/.bin/vitepress', ['build', 'docs']);
run('vitest', ['run', ...process.argv.slice(2)]);
