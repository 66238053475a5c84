import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root: string = fileURLToPath(new URL('../../../..', import.meta.url));
export const sourceCondition = '@service-auth/source';

export type Entry = {
  [sourceCondition]?: string;
  types?: string;
  default?: string;
  import?: { types: string; default: string };
  require?: { types: string; default: string };
};

export interface Manifest {
  name: string;
  version: string;
  exports: Record<string, Entry | string>;
  dependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
  devDependencies?: Record<string, string>;
  [field: string]: unknown;
}

export interface Package {
  /** The folder's name, which is also the name after the scope. */
  readonly name: string;
  readonly folder: string;
  readonly manifest: Manifest;
  /** Everything that can be imported, as an importer writes it: `@service-auth/core`. */
  readonly specifiers: string[];
  readonly hasCommonJs: boolean;
}

export function readPackages(): Package[] {
  return readdirSync(join(root, 'packages'))
    .filter((name) => existsSync(join(root, 'packages', name, 'package.json')))
    .map((name) => {
      const folder = join(root, 'packages', name);
      const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
      const entries = codeEntries(manifest);
      return {
        name,
        folder,
        manifest,
        specifiers: entries.map(([path]) => manifest.name + path.slice(1)),
        hasCommonJs: entries.some(([, entry]) => entry.require),
      };
    });
}

export function codeEntries(manifest: Manifest): [path: string, entry: Entry][] {
  return Object.entries(manifest.exports).filter((entry): entry is [string, Entry] => typeof entry[1] !== 'string');
}
