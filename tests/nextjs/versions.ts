// The versions of Next.js that npm installs for the check `next`: pinned in the folder versions, a workspace of its own.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));
const versions = join(folder, 'versions');

/** Does nothing if they exist. */
export function installVersions(): void {
  execFileSync('pnpm', ['install', '--frozen-lockfile', '--dir', versions], { stdio: 'pipe' });
}

/** One application with one version. */
export interface Application {
  readonly major: 14 | 15 | 16;
  readonly name: 'classic' | 'cache-components';
}

/** Puts an application where its version of Next.js is found, with our packages as they are published. Returns its folder. */
export function createApplication({ major, name }: Application, tarballs: ReadonlyMap<string, string>): string {
  const home = join(versions, `next-${major}/generated/${name}`);
  rmSync(home, { recursive: true, force: true });
  cpSync(join(folder, 'apps', name), home, { recursive: true });
  cpSync(join(folder, 'apps/auth.js'), join(home, 'auth.js'));
  const options = {
    // The workspace, in which Next.js is.
    ...(major === 16 && { turbopack: { root: versions }, cacheComponents: name === 'cache-components' }),
    ...(major === 15 && { outputFileTracingRoot: versions }),
  };
  writeFileSync(join(home, 'next.config.mjs'), `export default ${JSON.stringify(options)};\n`);
  writeFileSync(join(home, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  for (const [name, tarball] of tarballs) {
    const target = join(home, 'node_modules', name);
    mkdirSync(target, { recursive: true });
    execFileSync('tar', ['--extract', '--gzip', '--strip-components=1', '--file', tarball, '--directory', target]);
  }
  return home;
}

/** The program of a version. */
export function programOf(major: number): string {
  return join(versions, `next-${major}/node_modules/next/dist/bin/next`);
}
