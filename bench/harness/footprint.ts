import { existsSync, globSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import type { Kind } from './answer.ts';

/** Something that a program imports to get tokens, or to send them. */
export interface Import {
  readonly name: string;
  readonly kind: Kind;
  readonly specifier: string;
  /** The names that a program imports. */
  readonly names: readonly string[];
  /** The folder from which it is resolved. */
  readonly folder: string;
  /** The modules that every program has loaded. */
  readonly host: string | undefined;
}

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly files?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** The files that an installation adds: the package and all its dependencies, without its peer dependencies. */
export interface Installation {
  readonly packages: number;
  readonly bytes: number;
}

// The HTTP client, the framework or the driver that the program has anyway, and core, which has a row of its own.
const external = ['axios', 'got', 'undici', '@nestjs/*', 'rxjs', 'reflect-metadata', '@service-auth/*'];

/** Bytes of a bundle with what a program takes of it, minified and gzipped. */
export async function bundleBytes({ specifier, names, folder }: Import): Promise<number> {
  // The entry is a file, because the names of our packages are external here.
  const entry = specifier.startsWith('@service-auth/') ? `./node_modules/${specifier}/dist/index.js` : specifier;
  const { outputFiles } = await build({
    stdin: { contents: `export { ${names.join(', ')} } from '${entry}';`, resolveDir: folder },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external,
    logLevel: 'error',
  });
  return outputFiles.reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length, 0);
}

/** Adds up a package and its dependencies as they are installed here; of ours, what is published. */
export function installationOf({ specifier, folder }: Import): Installation {
  const seen = new Map<string, number>();
  const visit = (name: string, from: string): void => {
    const path = findPackage(name, from);
    if (path === undefined || seen.has(path)) return;
    const manifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as Manifest;
    seen.set(path, sizeOf(path, manifest.name.startsWith('@service-auth/') ? manifest.files : undefined));
    for (const dependency of Object.keys(manifest.dependencies ?? {})) visit(dependency, path);
  };
  if (!specifier.startsWith('.')) visit(specifier, folder);
  return { packages: seen.size, bytes: [...seen.values()].reduce((sum, bytes) => sum + bytes, 0) };
}

function sizeOf(path: string, published: readonly string[] | undefined): number {
  const always = ['package.json', 'README.md', 'LICENSE'];
  const patterns = published ? [...always, ...published.map((folder) => `${folder}/**`)] : ['**'];
  const files = globSync(patterns, { cwd: path, exclude: (name) => name === 'node_modules' });
  return files
    .map((file) => statSync(join(path, file)))
    .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0);
}

function findPackage(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, 'node_modules', name);
    if (existsSync(join(path, 'package.json'))) return realpathSync(path);
    if (folder === dirname(folder)) return undefined;
  }
}
