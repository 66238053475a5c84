import { readFileSync } from 'node:fs';
import type { Options } from 'tsup';

// Runs inside a package. What to build is read from the package's own `exports`, so that no entry is listed twice:
// the source condition names the entry, the paths below it name the output and its formats.
type Conditions = { '@service-auth/source': string; import?: { default: string }; require?: object; default?: string };

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  name: string;
  exports: Record<string, Conditions | string>;
};
const entries = Object.values(manifest.exports).filter((target) => typeof target !== 'string');
const outputName = (entry: Conditions): string =>
  (entry.import?.default ?? entry.default ?? '').replace(/^\.\/dist\//, '').replace(/\.js$/, '');

const config: Options = {
  entry: Object.fromEntries(entries.map((entry) => [outputName(entry), entry['@service-auth/source']])),
  format: entries.some((entry) => entry.require) ? ['esm', 'cjs'] : ['esm'],
  target: ['es2022', 'node20.19'],
  tsconfig: '../../tsconfig.json',
  // tsc has judged the sources already, by the newer compiler; the two disagree on what isolated declarations need.
  dts: { compilerOptions: { isolatedDeclarations: false } },
  sourcemap: true,
  clean: true,
  // Entries of one package import each other by the package's name: shared classes then exist once. Splitting would do it
  // too, but for CommonJS it rewrites the code to an older syntax and loses the source maps.
  external: [manifest.name],
  splitting: false,
  removeNodeProtocol: false,
  silent: true,
};

export default config;
