// Runs inside a package after its build. Declarations import the types of optional peer dependencies. Where such a peer is not installed, the compiler
// must not complain about a declaration that the application does not use: the type is `any` there then. TypeScript has no optional import, and the
// other ways are worse: a copy of the types of axios would differ from those of the installed version, an ambient `declare module` would hide the real
// types of an application that has axios, and an entry of its own would hide the modules from those who import them from the package.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Manifest {
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

const { peerDependenciesMeta = {} } = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;
const optional = Object.keys(peerDependenciesMeta).filter((name) => peerDependenciesMeta[name]?.optional);
const comment = '// @ts-ignore: an optional peer dependency\n';

for (const file of readdirSync('dist').filter((name) => /\.d\.c?ts$/.test(name))) {
  const path = join('dist', file);
  const lines = readFileSync(path, 'utf8').split('\n');
  writeFileSync(path, lines.map((line) => (importsOptional(line) ? comment + line : line)).join('\n'));
}

function importsOptional(line: string): boolean {
  const [, from = ''] = /^(?:import|export) .* from '([^']+)';$/.exec(line) ?? [];
  return optional.some((name) => from === name || from.startsWith(`${name}/`));
}
