// The floors of the house: no circle of files or folders, and nobody imports what stands above or beside them.
// `node scripts/check-imports.ts <folder>` checks another tree. dependency-cruiser finds no circle of two folders if one lies within the other.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import ts from 'typescript';
import { type Entry, type Manifest, root, sourceCondition } from '../tests/support/tools/packages/packages.ts';

const top = resolve(process.argv[2] ?? root);

interface Floor {
  /** The files that the rule is for: paths from the root that begin like this. */
  readonly of: readonly string[];
  /** The files of this repository that they may import, themselves included. Default: all. */
  readonly only?: readonly string[];
  readonly never?: readonly string[];
}

const core = 'packages/core/src';
const within = (names: readonly string[]) => names.map((name) => `${core}/${name}`);
// The rooms of core, from the top down. A room may import from itself and from the rooms after it. `usage/` comes before `token/`, because an order such as a
// reset works with the same parts of a client as an attempt does. `contract/` has the shapes that people give and get, errors and events among them: every
// room above it names them, so they cannot be in `client/`.
const rooms = within([
  ...['index.ts', 'client/', 'usage/', 'token/', 'record/', 'endpoint/'],
  ...['contract/', 'ledger/', 'platform/'],
]);
// The entries for authors of adapters and stores, who need no client, and those of other ways to authenticate. No room imports them.
const subpaths = within(['http/', 'oauth2/', 'store/', 'sql/']);
const shared = within(['contract/', 'platform/']);
const ledger = `${core}/ledger/`;
const tools = 'tests/support/tools/';
// The judge of the simulator knows what core promises, and not how core keeps it: it must still judge when that is written anew.
const judge = 'tests/protocol/src/judge/';
// These functions know no I/O and no clock: the simulator and the properties rely on that.
const pure = within([
  ...['ledger/', 'token/memory.ts', 'token/cached-token.ts'],
  ...['contract/access-token.ts', 'platform/instant.ts'],
]);

const floors: readonly Floor[] = [
  { of: [ledger], only: [ledger] },
  { of: pure, only: pure },
  // What the environment says about authentication is loaded at the first request.
  ...rooms.map((room, at) => ({ of: [room], only: [...rooms.slice(at), ...(at < 2 ? within(['oauth2/']) : [])] })),
  ...subpaths.map((subpath) => ({ of: [subpath], only: [subpath, ...shared] })),
  { of: [`${core}/`], only: [...rooms, ...subpaths] },
  { of: ['packages/core/test/'], only: ['packages/core/', tools] },
  { of: ['packages/testing/src/'], only: ['packages/testing/src/', `${core}/`] },
  {
    of: ['packages/'],
    never: ['bench/', 'examples/', 'tests/protocol/', 'tests/leaks/', 'tests/chaos/', 'tests/soak/'],
  },
  { of: [judge], only: [judge, `${core}/index.ts`] },
  { of: [tools], only: [tools] },
  { of: ['tests/support/fixtures/'], only: ['tests/support/', `${core}/`, 'packages/testing/src/'] },
  { of: ['packages/', 'tests/', 'bench/', 'examples/'], never: ['scripts/'] },
];

/**
 * Who may import whom: as types only, or as values too. A new package needs a row. `own` stands for its own dependencies.
 * That core uses web globals only is for the compiler to find: tsconfig.web.json gives it no others.
 */
const mayImport: Record<string, { types?: string[]; values?: string[] }> = {
  // A part of it that is loaded late.
  core: { values: ['@service-auth/core'] },
  // It copies our errors for each request, and knows them by core's own function.
  axios: { values: ['@service-auth/core', 'axios'] },
  got: { types: ['@service-auth/core'], values: ['@service-auth/core/http', 'got'] },
  fetch: { types: ['@service-auth/core'], values: ['@service-auth/core/http'] },
  undici: { types: ['@service-auth/core'], values: ['@service-auth/core/http', 'undici'] },
  file: { types: ['@service-auth/core'], values: ['@service-auth/core/store', 'node:'] },
  redis: { types: ['@service-auth/core'], values: ['@service-auth/core/store'] },
  mysql: {
    types: ['@service-auth/core'],
    values: ['@service-auth/core/sql', '@service-auth/core/store', 'node:buffer'],
  },
  postgres: { types: ['@service-auth/core'], values: ['@service-auth/core/sql', '@service-auth/core/store'] },
  cloudflare: { types: ['@service-auth/core'] },
  dynamodb: { types: ['@service-auth/core'], values: ['@service-auth/core/store', '@aws-sdk/client-dynamodb'] },
  sqlite: { types: ['@service-auth/core'], values: ['@service-auth/core/sql', '@service-auth/core/store'] },
  nestjs: { values: ['@service-auth/core', '@service-auth/axios', '@service-auth/nestjs', 'own'] },
  testing: { types: ['@service-auth/core'], values: ['node:'] },
  opentelemetry: { types: ['@service-auth/core'], values: ['own'] },
  cli: {
    values: [
      ...['core', 'file', 'mysql', 'postgres', 'redis', 'sqlite', 'testing'].map((name) => `@service-auth/${name}`),
      ...['node:', 'own'],
    ],
  },
};

const files = filesOf(top);
const entries = entriesOf(files.filter((file) => basename(file) === 'package.json'));
const graph = new Map(files.filter((file) => /\.[cm]?[jt]s$/.test(file)).map((file) => [file, importedBy(file)]));

const problems = [
  ...circlesIn(graph).map((circle) => `${circle.join(' -> ')} is a circle of files.`),
  ...circlesIn(foldersOf(graph)).map((circle) => `${circle.join(' -> ')} is a circle of folders.`),
  ...[...graph].flatMap(([file, imported]) => [...imported].flatMap((other) => forbidden(file, other))),
  ...files.filter((file) => /^packages\/[^/]+\/package\.json$/.test(file)).flatMap(foreignImports),
];
// A rule for files that were moved would find nothing any more.
const guarded = floors.flatMap(({ of }) => of);
for (const place of new Set(guarded)) {
  if (!files.some((file) => file.startsWith(place))) problems.push(`${place} has a rule, but is not there.`);
}
if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exit(1);
}
console.log(`${graph.size} modules import each other in no circle, and only what they may.`);

function filesOf(folder: string): string[] {
  const listed = ['ls-files', '--cached', '--others', '--exclude-standard'];
  const paths = execFileSync('git', listed, { cwd: folder, encoding: 'utf8' }).split('\n');
  // Those that are deleted, but not yet committed, are listed too.
  return paths.filter((path) => path !== '' && existsSync(join(folder, path)));
}

function importedBy(file: string): Set<string> {
  const specifiers = importsOf(file, readFileSync(join(top, file), 'utf8')).map(({ from }) => from);
  return new Set(
    specifiers.flatMap((from) => (from.startsWith('.') ? join(dirname(file), from) : entryOf(from)) ?? []),
  );
}

/** The source of a package of this repository. */
function entryOf(specifier: string): string | undefined {
  const pattern = [...entries].find(([name]) => name.endsWith('/*') && specifier.startsWith(name.slice(0, -1)));
  return entries.get(specifier) ?? pattern?.[1].replace('*', specifier.slice(pattern[0].length - 1));
}

/** The sources of all packages of this repository, by the names under which they are imported. */
function entriesOf(manifests: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const path of manifests) {
    const { name, exports = {} } = manifestAt(path);
    for (const [subpath, entry] of Object.entries<Entry | string>(exports)) {
      const source = typeof entry === 'string' ? entry : entry[sourceCondition];
      if (source) found.set(`${name}${subpath.slice(1)}`, join(dirname(path), source));
    }
  }
  return found;
}

function manifestAt(path: string): Partial<Manifest> {
  return JSON.parse(readFileSync(join(top, path), 'utf8'));
}

function forbidden(file: string, imported: string): string[] {
  const isIn = (places: readonly string[], path: string) => places.some((place) => path.startsWith(place));
  const broken = floors.find(
    ({ of, only, never }) => isIn(of, file) && ((only && !isIn(only, imported)) || (never && isIn(never, imported))),
  );
  if (!broken) return [];
  const rule = broken.only
    ? `may import only ${broken.only.join(', ')}`
    : `may never import ${broken.never?.join(', ')}`;
  return [`${file} imports ${imported}, but ${broken.of.join(', ')} ${rule}.`];
}

/** The imports of a package that its row does not allow. */
function foreignImports(manifest: string): string[] {
  const folder = dirname(manifest);
  const name = basename(folder);
  const rule = mayImport[name];
  if (!rule)
    return [`packages/${name} has no row in \`mayImport\` of scripts/check-imports.ts: say what it may import.`];
  const { dependencies, peerDependencies, peerDependenciesMeta } = manifestAt(manifest);
  const own = Object.keys({ ...dependencies, ...peerDependencies, ...peerDependenciesMeta }).filter(
    (id) => !id.startsWith('@service-auth/'),
  );
  const values = (rule.values ?? []).flatMap((id) => (id === 'own' ? own : id));
  const types = [...values, ...(rule.types ?? [])];
  const allows = (allowed: readonly string[], from: string) =>
    allowed.some((id) => from === id || from.startsWith(id.endsWith(':') ? id : `${id}/`));
  const sources = files.filter((file) => file.startsWith(`${folder}/src/`) && file.endsWith('.ts'));
  return sources.flatMap((file) =>
    importsOf(file, readFileSync(join(top, file), 'utf8'))
      .filter(({ from, typeOnly }) => !from.startsWith('.') && !allows(typeOnly ? types : values, from))
      .map(({ from, typeOnly }) => `${file} imports ${from}${typeOnly ? '' : ' as a value'}, which ${name} may not.`),
  );
}

interface SourceImport {
  readonly from: string;
  readonly typeOnly: boolean;
}

function importsOf(file: string, code: string): SourceImport[] {
  const found: SourceImport[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
      const typeOnly = node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
      found.push({ from: node.moduleSpecifier.text, typeOnly });
    } else if (ts.isExportDeclaration(node) && node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier)) {
      found.push({ from: node.moduleSpecifier.text, typeOnly: node.isTypeOnly });
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [from] = node.arguments;
      if (from && ts.isStringLiteral(from)) found.push({ from: from.text, typeOnly: false });
    } else if (
      ts.isImportTypeNode(node) &&
      ts.isLiteralTypeNode(node.argument) &&
      ts.isStringLiteral(node.argument.literal)
    ) {
      found.push({ from: node.argument.literal.text, typeOnly: true });
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, code, ts.ScriptTarget.ES2022));
  return found;
}

/** Maps each file or folder to those that it imports. All are paths from the root. */
type ImportGraph = ReadonlyMap<string, ReadonlySet<string>>;

/** The graph of the folders that these files lie in. A folder inside another one is a folder of its own. */
function foldersOf(files: ImportGraph): ImportGraph {
  const folders = new Map<string, Set<string>>();
  for (const [file, imported] of files) {
    const folder = dirname(file);
    const others = [...imported].map((other) => dirname(other)).filter((other) => other !== folder);
    folders.set(folder, new Set([...(folders.get(folder) ?? []), ...others]));
  }
  return folders;
}

/** The circles of a graph, the shortest through each node that is in one: `a`, `b`, `a`. Each set of nodes is named once. */
function circlesIn(graph: ImportGraph): string[][] {
  const found = new Map<string, string[]>();
  for (const start of graph.keys()) {
    const circle = shortestCircle(graph, start);
    const nodes = [...new Set(circle)].sort().join();
    if (circle && !found.has(nodes)) found.set(nodes, circle);
  }
  return [...found.values()];
}

function shortestCircle(graph: ImportGraph, start: string): string[] | undefined {
  const cameFrom = new Map<string, string>();
  const waiting = [start];
  for (const node of waiting) {
    for (const next of graph.get(node) ?? []) {
      if (next === start) return pathTo(node, cameFrom).concat(start);
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, node);
      waiting.push(next);
    }
  }
  return undefined;
}

function pathTo(node: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const before = cameFrom.get(node);
  return before === undefined ? [node] : [...pathTo(before, cameFrom), node];
}
