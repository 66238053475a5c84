import { readFileSync } from 'node:fs';
import type { Options } from 'tsup';
import { errorPageOf } from './tests/support/tools/packages/error-page.ts';

// Runs inside a package. What to build is read from the package's own `exports` and `bin`, so that no entry is listed twice:
// the source condition names the entry, the paths below it name the output and its formats. A program is its source of the same name.
type Conditions = { '@service-auth/source': string; import?: { default: string }; require?: object; default?: string };

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  name: string;
  version: string;
  exports: Record<string, Conditions | string>;
  bin?: Record<string, string>;
  peerDependenciesMeta?: Record<string, object>;
};
const entries = Object.values(manifest.exports).filter((target) => typeof target !== 'string');
const outputName = (entry: Conditions): string =>
  (entry.import?.default ?? entry.default ?? '').replace(/^\.\/dist\//, '').replace(/\.js$/, '');

const programs = Object.keys(manifest.bin ?? {}).map((name) => [name, `./src/${name}.ts`]);
const hasCommonJs = entries.some((entry) => entry.require);

const errorPage = {
  name: 'error-page',
  setup({ onLoad }: import('esbuild').PluginBuild) {
    const contents = `export const errorPage = '${errorPageOf(manifest.version)}';`;
    onLoad({ filter: /contract.error-page\.ts$/ }, () => ({ contents, loader: 'ts' }));
  },
};

const config: Options = {
  entry: Object.fromEntries([
    ...entries.map((entry) => [outputName(entry), entry['@service-auth/source']]),
    ...programs,
  ]),
  format: hasCommonJs ? ['esm', 'cjs'] : ['esm'],
  target: ['es2022', 'node20.19'],
  tsconfig: '../../tsconfig.json',
  // tsc has judged the sources already, by the newer compiler; the two disagree on what isolated declarations need.
  dts: entries.length > 0 && { compilerOptions: { isolatedDeclarations: false } },
  sourcemap: false, // docs/decisions/0040
  clean: true,
  // Entries of one package import each other by the package's name: shared classes then exist once. Splitting would do it
  // too, but for CommonJS it rewrites the code to an older syntax. Without CommonJS it keeps what is imported late in files of its own.
  external: [manifest.name, ...Object.keys(manifest.peerDependenciesMeta ?? {})],
  esbuildPlugins: [errorPage],
  splitting: !hasCommonJs,
  removeNodeProtocol: false,
  silent: true,
};

export default config;
