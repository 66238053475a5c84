import { cachedFolder, run } from '@service-auth/test-tools/servers/tools';
import type { Suite } from './suites.ts';

const maxInstallMs = 900_000;

/** Returns the folder of a suite, with the dependencies of its lockfile, or else those of the day of its commit. It is filled once. */
export function install({ repository, commit, build = [] }: Suite): Promise<string> {
  const name = `${repository.split('/').at(-1)}-${commit.slice(0, 12)}`;
  return cachedFolder(
    name,
    async (folder) => {
      const git = (...argv: string[]) => run('git', ['-C', folder, '-c', 'advice.detachedHead=false', ...argv]);
      await git('init', '--quiet');
      await git('fetch', '--quiet', '--depth=1', repository, commit);
      await git('checkout', '--quiet', commit);
      const isLocked = (await git('ls-files', 'package-lock.json')) !== '';
      const before = (await git('log', '-1', '--format=%cI')).trim();
      const npm = isLocked ? ['ci'] : ['install', '--no-package-lock', `--before=${before}`];
      await run('npm', [...npm, '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
      for (const [command = '', ...argv] of build) await run(command, argv, { cwd: folder });
    },
    maxInstallMs,
  );
}
