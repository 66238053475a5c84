import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Application, ReflectionKind, type TypeDocOptions } from 'typedoc';
import type { PluginOptions } from 'typedoc-plugin-markdown';
import { codeEntries, readPackages, sourceCondition } from '../../tests/support/tools/packages/packages.ts';
import { root } from './repository.ts';

/** The reference of one entry of a package, made from its doc comments. */
export interface ReferencePage {
  /** The name of the page: `core-http`. */
  readonly name: string;
  /** The specifier that a program imports: `@service-auth/core/http`. */
  readonly specifier: string;
  /** Its functions and classes, or if it has none its types: code, at most six. */
  readonly names: readonly string[];
  readonly markdown: string;
}

/** VitePress loads a copy of this module for its configuration and one for the routes. They share the pages. */
const shared = globalThis as { referencePages?: Promise<readonly ReferencePage[]> };

/**
 * Makes the reference, once per process.
 * @throws an error if a public export has no doc comment, or if a comment links to something that is not public
 */
export function referencePages(): Promise<readonly ReferencePage[]> {
  shared.referencePages ??= makePages();
  return shared.referencePages;
}

async function makePages(): Promise<readonly ReferencePage[]> {
  const entries = readPackages().flatMap(({ folder, manifest }) =>
    codeEntries(manifest).map(([path, entry]) => ({
      source: join(folder, entry[sourceCondition] ?? ''),
      specifier: manifest.name + path.slice(1),
      name: manifest.name.replace(/^.*\//, '') + path.slice(1).replaceAll('/', '-'),
    })),
  );
  const options: Partial<TypeDocOptions> & PluginOptions = {
    entryPoints: entries.map(({ source }) => source),
    tsconfig: join(root, 'tsconfig.json'),
    plugin: [fileURLToPath(import.meta.resolve('typedoc-plugin-markdown'))],
    // The check `types` finds the errors of the sources, with another version of TypeScript.
    skipErrorChecking: true,
    excludeExternals: true,
    excludePrivate: true,
    disableSources: true,
    readme: 'none',
    logLevel: 'Warn',
    validation: { notExported: false, invalidLink: true, notDocumented: false },
    router: 'module',
    flattenOutputFiles: true,
    hideBreadcrumbs: true,
    hidePageHeader: true,
    useCodeBlocks: true,
    useHTMLAnchors: true,
    parametersFormat: 'table',
    interfacePropertiesFormat: 'table',
    typeAliasPropertiesFormat: 'table',
    groupOrder: ['Functions', 'Interfaces', 'Type Aliases', 'Classes', 'Variables'],
    sort: ['source-order'],
  };
  const app = await Application.bootstrapWithPlugins(options);
  const project = await app.convert();
  if (!project) throw new Error('typedoc could not read the sources.');
  // A parameter that a function takes apart at once has no name of its own.
  for (const parameter of project.getReflectionsByKind(ReflectionKind.Parameter))
    if (parameter.name === '__namedParameters') parameter.name = 'options';
  app.validate(project);
  const undocumented: string[] = [];
  const namesOf = new Map<string, readonly string[]>();
  for (const module of project.getChildrenByKind(ReflectionKind.Module)) {
    const entry = entries.find(({ source }) => moduleName(source) === module.name);
    if (!entry) throw new Error(`No entry of a package is called ${module.name}.`);
    module.name = entry.name;
    for (const group of module.groups ?? []) {
      group.children.sort((one, other) => rankOf(one.name) - rankOf(other.name));
    }
    const values = ReflectionKind.Function | ReflectionKind.Class | ReflectionKind.Variable;
    const called = module.children?.filter(({ kind }) => kind & values) ?? [];
    const shown = (called.length > 0 ? called : (module.children ?? [])).slice(0, 6);
    namesOf.set(
      entry.name,
      shown.map((child) => `\`${child.name}\``),
    );
    for (const child of module.children ?? []) {
      const isDocumented = child.hasComment() || child.signatures?.every((signature) => signature.hasComment());
      if (!isDocumented && !child.isReference()) undocumented.push(`${entry.specifier}: ${child.name}`);
    }
  }
  if (undocumented.length > 0) throw new Error(`These exports have no doc comment:\n${undocumented.join('\n')}`);
  if (app.logger.hasWarnings() || app.logger.hasErrors()) throw new Error('typedoc found the faults above.');

  const folder = mkdtempSync(join(tmpdir(), 'reference-'));
  try {
    await app.outputs.writeOutput({ name: 'markdown', path: folder }, project);
    return entries.map(({ name, specifier }) => {
      const markdown = readFileSync(join(folder, `${name}.md`), 'utf8').replace(/^# .*$/m, `# ${specifier}`);
      return { name, specifier, markdown, names: namesOf.get(name) ?? [] };
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What most readers look for. It stands before all else of its kind. */
const first = ['createServiceAuth', 'createServiceAuthFromEnv', 'ServiceAuthOptions', 'ServiceAuth', 'AccessToken'];

function rankOf(name: string): number {
  return first.includes(name) ? first.indexOf(name) : first.length;
}

/** The name that typedoc gives to the module of an entry: its path below `packages`. */
function moduleName(source: string): string {
  return relative(join(root, 'packages'), source).replace(/(\/index)?\.ts$/, '');
}
