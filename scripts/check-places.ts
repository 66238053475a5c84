// Whoever adds something must not forget the places that have to know it. CONTRIBUTING.md lists these by the kind of change.
// This adds one member of each kind at once, in a copy of the sources, and compares the list with the files in which the
// compiler misses the member.
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../tests/support/tools/packages/packages.ts';

/** A member that is added to a type. */
interface Addition {
  /** The name of the member. The messages of the compiler tell the kinds apart by it. */
  readonly name: string;
  /** The file of the type, and the text after which the member stands. */
  readonly table: string;
  readonly after: string;
  readonly written: string;
}

const inUnion = (name: string, table: string, after: string): Addition => {
  return { name, table, after, written: ` | '${name}'` };
};
const inObject = (name: string, table: string, type: string, member = `readonly ${name}: string`): Addition => {
  return { name, table, after: `interface ${type} {`, written: ` ${member};` };
};

/** By the kind of change, as CONTRIBUTING.md calls it. The tables are in `packages/core/src`. */
const additions: Readonly<Record<string, Addition>> = {
  'an event': inObject('added_event', 'contract/events.ts', 'ServiceAuthEventFields', 'added_event: { readonly x: 1 }'),
  'an option': inObject('addedOption', 'contract/options.ts', 'ServiceAuthOptions', 'addedOption?: string'),
  'a parameter of the token request': inObject(
    'addedParameter',
    'contract/options.ts',
    'TokenOptions',
    'addedParameter?: string',
  ),
  'an error': inObject('ERR_ADDED', 'contract/errors.ts', 'ServiceAuthErrorFields', 'ERR_ADDED: unknown'),
  'a fact about each issuance': inObject('addedFact', 'usage/usage.ts', 'Issuance'),
  'a member of each row of the record': inObject('addedMember', 'ledger/record.ts', 'Spent'),
  'a durability': inUnion('added_durability', 'ledger/limits.ts', "type StoreDurability = 'process'"),
  'a meaning of an answer': inUnion('added_meaning', 'ledger/settle.ts', "'rate_limited' | 'unavailable'"),
  'an outcome': inUnion('added_outcome', 'ledger/record.ts', "kind: 'unreached'"),
  'a kind of hold': inUnion('added_rule', 'ledger/pace.ts', "| 'limit'"),
  'a figure of `service-auth usage`': inObject('addedFigure', 'usage/usage.ts', 'Usage'),
  'an owner of a quota': inUnion('added_header', 'contract/events.ts', "type QuotaOwner = 'client'"),
  'a member of a window': inObject('addedToWindow', 'ledger/record.ts', 'Term'),
};

const tables = 'packages/core/src';
const copied = ['packages/*/src', 'packages/*/package.json', 'packages/core/test/documentation.test.ts'];

const copy = mkdtempSync(join(root, 'node_modules', '.places-'));
try {
  copySources();
  for (const addition of Object.values(additions)) add(addition);
  const [found, listed] = [placesByKind(compilerMessages()), listedPlaces()];
  const problems = [...new Set([...found.keys(), ...listed.keys()])].flatMap((kind) => {
    const [one, other] = [found.get(kind) ?? [], listed.get(kind) ?? []];
    return [
      ...one.filter((file) => !other.includes(file)).map((file) => `${kind}: CONTRIBUTING.md does not list ${file}.`),
      ...other.filter((file) => !one.includes(file)).map((file) => `${kind}: nothing fails to compile in ${file}.`),
    ];
  });
  if (problems.length > 0) console.error(problems.join('\n'));
  else console.log(`${found.size} kinds of change: the compiler names each place that CONTRIBUTING.md lists.`);
  process.exitCode = problems.length > 0 ? 1 : 0;
} finally {
  rmSync(copy, { recursive: true, force: true });
}

function copySources(): void {
  for (const path of globSync(copied, { cwd: root })) cpSync(join(root, path), join(copy, path), { recursive: true });
  // The links are relative, so the packages find each other in the copy. All others are where they were.
  for (const path of globSync('packages/*/node_modules', { cwd: root }))
    cpSync(join(root, path), join(copy, path), { recursive: true, verbatimSymlinks: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  cpSync(join(root, 'tsconfig.base.json'), join(copy, 'tsconfig.base.json'));
  const whole = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'));
  writeFileSync(join(copy, 'tsconfig.json'), JSON.stringify({ ...whole, include: ['packages'] }));
}

function add({ table, after, written }: Addition): void {
  const file = join(copy, tables, table);
  const parts = readFileSync(file, 'utf8').split(after);
  if (parts.length !== 2) throw new Error(`${table} has not one place, but ${parts.length - 1}, with: ${after}`);
  writeFileSync(file, parts.join(after + written));
}

/** Each message with the lines that explain it. */
function compilerMessages(): string[] {
  const compiler = join(root, 'node_modules/typescript-7/bin/tsc');
  const argv = [compiler, '--project', copy, '--pretty', 'false'];
  const { stdout } = spawnSync(process.execPath, argv, { cwd: copy, encoding: 'utf8', maxBuffer: 1e8 });
  return stdout.split(/\n(?! )/).filter(Boolean);
}

/** The files in which the compiler misses a member of each kind, besides that of the table. */
function placesByKind(messages: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const places = new Map(Object.keys(additions).map((kind) => [kind, new Set<string>()]));
  for (const message of messages) {
    const isAbout = ({ name }: Addition) => message.includes(`'${name}'`) || message.includes(`'"${name}"'`);
    const [first, ...others] = Object.entries(additions).filter(([, addition]) => isAbout(addition));
    if (!first || others.length > 0) throw new Error(`The compiler does not say which addition it means:\n${message}`);
    const [kind, { table }] = first;
    const [file = ''] = message.split('(', 1);
    if (file !== `${tables}/${table}`) places.get(kind)?.add(file);
  }
  return new Map([...places].map(([kind, files]) => [kind, [...files].sort()]));
}

/** The places in the table of CONTRIBUTING.md. A row has a kind, the type with its file, and the other files. */
function listedPlaces(): ReadonlyMap<string, readonly string[]> {
  const page = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
  const [, section = ''] = page.split('\n## Adding something that several places know\n');
  const rows = [...(section.split('\n## ', 1)[0] ?? '').matchAll(/^\| (an? .+?) \| (.+?) \| (.+?) \|$/gm)];
  return new Map(
    rows.map(([, kind = '', , places = '']) => [
      kind,
      [...places.matchAll(/`([\w./-]+)`/g)].map(([, path]) => `packages/${path}`).sort(),
    ]),
  );
}
