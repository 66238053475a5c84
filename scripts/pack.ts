import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Package, root } from './packages.ts';

/** Packs packages as they would be published and returns their tarballs by the package's name. Builds first what is not built. */
export function packAll(packages: Package[]): Map<string, string> {
  const folder = join(root, 'node_modules/.cache/packed');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const filters = packages.map(({ manifest }) => `--filter=${manifest.name}`);
  run('turbo', ['run', 'build', '--output-logs=errors-only', ...filters]);
  run('pnpm', ['--recursive', ...filters, 'pack', '--pack-destination', folder, '--config.ignore-scripts=true']);

  const tarballs = readdirSync(folder);
  return new Map(
    packages.map(({ manifest }) => {
      const tarball = `${manifest.name.slice(1).replace('/', '-')}-${manifest.version}.tgz`;
      if (!tarballs.includes(tarball))
        throw new Error(`${manifest.name} was not packed as ${tarball}, only: ${tarballs.join(', ')}`);
      return [manifest.name, join(folder, tarball)];
    }),
  );
}

function run(command: string, argv: string[]): void {
  const { status, stdout, stderr, error } = spawnSync(command, argv, { cwd: root, encoding: 'utf8' });
  if (status === 0) return;
  console.error(
    `${stdout ?? ''}${stderr ?? ''}${error ?? ''}\n${command} ${argv.join(' ')} failed, so nothing was packed.`,
  );
  process.exit(1);
}
