import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { nodes } from '../runtimes/engines.ts';
import type { Manifest } from '../support/tools/packages/packages.ts';
import type { Project } from './projects.ts';

const execute = promisify(execFile);

export type Environment = Readonly<Record<string, string>>;

/** A program that installs packages, as somebody uses it in an empty folder. */
export interface Client {
  readonly name: string;
  /** Installs the packages of a project, which it adds to the project's package.json. */
  readonly add: readonly string[];
  /** Runs a JavaScript module of the project. */
  readonly run: readonly string[];
  /** Matches each line of its output that says that something is wrong. It is undefined if the client says nothing about peers. */
  readonly complaint?: RegExp;
  /** The packages that it installed, with a repetition for each copy: `axios@1.21.1`. */
  installed(folder: string): string[];
}

const npm: Client = {
  name: 'npm',
  add: ['npm', 'install', '--no-audit', '--no-fund'],
  run: ['node'],
  complaint: /^npm (warn|error)/i,
  installed: folders,
};

export const clients: readonly Client[] = [
  npm,
  // Auto-installs no peer: all are named.
  { name: 'pnpm', add: ['pnpm', 'add'], run: ['node'], complaint: /\bWARN\b|peer/i, installed: folders },
  {
    // Its default lets a package import only what it declares.
    name: 'yarn',
    add: ['yarn', 'add'],
    run: ['yarn', 'node'],
    // All but: a step begins or ends, packages were added, Plug'n'Play has ES modules by an experimental interface of Node.
    complaint: /YN(?!0000|0013|0085|0092)\d{4}/,
    installed: (folder) =>
      [...readFileSync(join(folder, 'yarn.lock'), 'utf8').matchAll(/^ {2}resolution: "(.+)@npm:(.+)"$/gm)].map(
        ([, name, version]) => `${name}@${version}`,
      ),
  },
  { name: 'bun', add: ['bun', 'add'], run: ['bun'], installed: folders },
];

/** npm as it runs on Node 20. */
export function npmOfNode20(tools: string): Client {
  const file = nodes.find(({ major }) => major === 20)?.file ?? '';
  const program = join(tools, 'node_modules/npm/bin/npm-cli.js');
  return { ...npm, name: 'npm on Node 20', add: [file, program, ...npm.add.slice(1)], run: [file] };
}

/** Installs the project into an empty folder. Returns the lines in which the client complains. */
export async function install(client: Client, project: Project, folder: string, env: Environment): Promise<string[]> {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  // Without it Yarn takes a folder further up for the project.
  if (client.name === 'yarn') writeFileSync(join(folder, 'yarn.lock'), '');
  const wanted = [
    ...project.ours.map((name) => `@service-auth/${name}`),
    ...Object.entries(project.others).map(([name, version]) => `${name}@${version}`),
  ];
  const output = await runIn(folder, env, [...client.add, ...wanted]).catch((error: Error) => error.message);
  const { complaint } = client;
  return complaint ? output.split('\n').filter((line) => complaint.test(line)) : [];
}

export async function runIn(
  cwd: string,
  env: Environment,
  [command = '', ...argv]: readonly string[],
): Promise<string> {
  const { stdout, stderr } = await execute(command, argv, { cwd, env, timeout: 120_000 }).catch((error) => {
    throw new Error(`${command} ${argv.join(' ')} failed:\n${error.stdout}${error.stderr}${error.message}`);
  });
  return stdout + stderr;
}

/** Every package that is a real folder under node_modules, and not a link to one. */
function folders(project: string): string[] {
  const found: string[] = [];
  const visit = (folder: string) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (isPackage(path)) found.push(nameAndVersion(path));
        visit(path);
      }
    }
  };
  visit(join(project, 'node_modules'));
  return found;
}

function isPackage(path: string): boolean {
  return /node_modules\/(@[^/]+\/)?[^/@.][^/]*$/.test(path) && readdirSync(path).includes('package.json');
}

function nameAndVersion(path: string): string {
  const { name, version } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as Manifest;
  return `${name}@${version}`;
}
