import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../tests/support/tools/end-with-this-process.ts';
import type { Entry } from '../../tests/support/tools/packages/packages.ts';
import { reportsOfApi } from '../api-report.ts';

type Exports = Readonly<Record<string, Entry>>;

const entry = (file: string) => ({ '@service-auth/source': file });
const index: Exports = { '.': entry('./src/index.ts') };
const base = {
  'src/index.ts': "export { read } from './read.ts';\nexport type { Options as ReadOptions } from './read.ts';",
  'src/read.ts': `
    import type { Kind } from './kind.ts';
    /** How to read. */
    export interface Options { kind?: Kind }
    /** Reads. */
    export function read(options: Options): string { return String(options.kind); }
    export const unseen: number = 1;`,
  'src/kind.ts': "export type Kind = 'fast' | 'whole';",
};

/** Returns the report of a package with these files, beside another one. */
function reportOf(files: Readonly<Record<string, string>>, exports = index): string {
  const folder = temporaryFolder(join(tmpdir(), 'service-auth-api-'));
  const other = { 'src/index.ts': 'export class Other {}' };
  for (const [name, its] of Object.entries({ one: files, other })) {
    for (const [path, text] of Object.entries(its)) {
      mkdirSync(dirname(join(folder, name, path)), { recursive: true });
      writeFileSync(join(folder, name, path), text);
    }
  }
  const reports = reportsOfApi([
    { folder: join(folder, 'one'), manifest: { name: '@a/one', version: '1.0.0', exports } },
    { folder: join(folder, 'other'), manifest: { name: '@a/other', version: '1.0.0', exports: index } },
  ]);
  return reports.get('@a/one') ?? '';
}

test('a report has what an entry exports, and what that names without exporting it', () => {
  expect(reportOf(base)).toBe(`# The API of @a/one

Made by \`pnpm fix\` from the sources.

## @a/one

\`\`\`ts
export interface Options {
    kind?: Kind;
}

export { Options as ReadOptions };

export function read(options: Options): string;
\`\`\`

## Named by these, but exported by none

\`\`\`ts
type Kind = 'fast' | 'whole';
\`\`\`
`);
});

test.each<[string, boolean, Readonly<Record<string, string>>]>([
  ['a type behind a public name', true, { ...base, 'src/kind.ts': "export type Kind = 'fast' | 'whole' | 'lazy';" }],
  ['a mark', true, { ...base, 'src/read.ts': base['src/read.ts'].replace('Reads.', 'Reads. @experimental') }],
  [
    'the mark of an entry',
    true,
    { ...base, 'src/index.ts': `/** @module @experimental */\n\n${base['src/index.ts']}` },
  ],
  ['what it says about a name', false, { ...base, 'src/read.ts': base['src/read.ts'].replace('Reads.', 'It reads.') }],
  ['code', false, { ...base, 'src/read.ts': base['src/read.ts'].replace('options.kind)', "options.kind ?? '')") }],
  ['a name that no entry exports', false, { ...base, 'src/read.ts': base['src/read.ts'].replace('unseen', 'hidden') }],
])('%s changes, and a report with it: %s', (_, changes, files) => {
  expect(reportOf(files) !== reportOf(base)).toBe(changes);
});

test('a name that two entries export is declared once, and one of another package not at all', () => {
  const files = { ...base, 'src/more.ts': "export { read } from './index.ts';\nexport { Other } from '@a/other';" };
  const report = reportOf(files, { ...index, './more': entry('./src/more.ts') });
  expect(report.match(/export function read/g)).toHaveLength(1);
  expect(report).toContain("export { Other } from '@a/other';\n\nexport { read }; // @a/one");
});

test('a report leaves out what is private', () => {
  const files = {
    'src/index.ts': 'export class Store { private size: number = 0; read(): number { return this.size; } }',
  };
  expect(reportOf(files)).toContain('export class Store {\n    read(): number;\n}');
});
