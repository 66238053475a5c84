import { codeEntries, type Entry, type Manifest, sourceCondition } from './packages.ts';

const repository = 'https://github.com/service-auth/service-auth';

/** A package.json with everything that follows from its name and `exports`, in one order of fields. Given fields of other names stay. */
export function completeManifest(given: Manifest, folder: string): Manifest {
  const { name, version = '0.0.0', description, keywords, ...rest } = given;
  const entries = codeEntries(given).map(([path, entry]) => [path, completeEntry(entry)] as const);
  const published = entries.map(([path, { [sourceCondition]: _, ...entry }]) => [path, entry] as const);
  const main = withoutExports(entries[0]?.[1]);

  const derived = {
    license: 'MIT',
    author: 'Service Auth contributors',
    homepage: `${repository}/tree/main/packages/${folder}#readme`,
    bugs: `${repository}/issues`,
    repository: { type: 'git', url: `git+${repository}.git`, directory: `packages/${folder}` },
    type: 'module',
    sideEffects: false,
    engines: given['engines'] ?? { node: '>=20.19' },
    files: given['files'] ?? ['dist'],
    // For compilers and tools from before `exports`.
    main: main?.default,
    types: main?.types,
    ...typesVersions(entries),
    exports: { ...Object.fromEntries(entries), './package.json': './package.json' },
    publishConfig: {
      access: 'public',
      provenance: true,
      exports: { ...Object.fromEntries(published), './package.json': './package.json' },
    },
    scripts: { build: buildOf(given), prepack: 'turbo run build' },
  };
  for (const field of Object.keys(derived)) delete rest[field];
  return { name, version, description, keywords, ...derived, ...rest } as Manifest;
}

function buildOf(given: Manifest): string {
  const build = 'tsup --config ../../tsup.config.ts';
  return given.peerDependenciesMeta === undefined ? build : `${build} && node ../../scripts/optional-types.ts`;
}

/** Both formats, unless the entry was written with a `default` of its own: then only the one for `import`. */
function completeEntry(entry: Entry): Entry {
  const source = entry[sourceCondition] ?? '';
  const output = source.replace(/^\.\/src\//, './dist/').replace(/\.ts$/, '');
  const esm = { types: `${output}.d.ts`, default: `${output}.js` };
  if (entry.default) return { [sourceCondition]: source, ...esm };
  return { [sourceCondition]: source, import: esm, require: { types: `${output}.d.cts`, default: `${output}.cjs` } };
}

function withoutExports(entry: Entry | undefined): { types?: string; default?: string } | undefined {
  return entry?.require ?? entry;
}

function typesVersions(entries: (readonly [string, Entry])[]): object {
  const subpaths = entries.filter(([path]) => path !== '.');
  if (subpaths.length === 0) return {};
  const types = subpaths.map(([path, entry]) => [path.slice(2), [withoutExports(entry)?.types]]);
  return { typesVersions: { '*': Object.fromEntries(types) } };
}
