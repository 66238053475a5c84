import { readFileSync } from 'node:fs';
import type { UserConfig } from 'tsdown';
import { errorPageOf } from './tests/support/tools/packages/error-page.ts';

// Runs inside a package. What to build is read from the package's own `exports` and `bin`, so that no entry is listed twice:
// the source condition names the entry, the paths below it name the output and its formats. A program is its source of the same name.
type Conditions = { '@service-auth/source': string; import?: { default: string }; require?: object; default?: string };

const cwd: string = process.cwd();
const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  name: string;
  version: string;
  exports: Record<string, Conditions | string>;
  bin?: Record<string, string>;
};
const entries = Object.values(manifest.exports).filter((target) => typeof target !== 'string');
const outputName = (entry: Conditions): string =>
  (entry.import?.default ?? entry.default ?? '').replace(/^\.\/dist\//, '').replace(/\.js$/, '');

const programs = Object.keys(manifest.bin ?? {}).map((name) => [name, `./src/${name}.ts`]);

const shared: UserConfig = {
  cwd,
  entry: Object.fromEntries([
    ...entries.map((entry) => [outputName(entry), entry['@service-auth/source']]),
    ...programs,
  ]),
  format: entries.some((entry) => entry.require) ? ['esm', 'cjs'] : ['esm'],
  target: ['es2022', 'node20.19'],
  platform: 'node',
  tsconfig: '../../tsconfig.json',
  sourcemap: false, // docs/decisions/0040
  fixedExtension: false,
  hash: false,
  // Entries of one package import each other by the package's name.
  deps: { neverBundle: [new RegExp(`^${manifest.name}(/|$)`)] },
  checks: { bundlerTimings: false, legacyCjs: false },
  report: false,
  logLevel: 'warn',
};

const code: UserConfig = {
  ...shared,
  dts: false,
  // It would also rewrite expressions, and the sources have no dead code.
  treeshake: false,
  outputOptions: { minify: false, comments: { jsdoc: false } },
  plugins: [
    {
      name: 'error-page',
      load: {
        filter: { id: /contract.error-page\.ts$/ },
        handler: () => `export const errorPage: string = '${errorPageOf(manifest.version)}';`,
      },
    },
  ],
};
const declarations: UserConfig = { ...shared, dts: { dtsOnly: true } };

const configs: UserConfig[] = entries.length > 0 ? [code, declarations] : [code];
export default configs;
