import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inParallel } from '../support/tools/in-parallel.ts';
import { byDay, isNight } from '../support/tools/night.ts';
import { errorPageOf } from '../support/tools/packages/error-page.ts';
import { root } from '../support/tools/packages/packages.ts';
import { type Client, clients, type Environment, install, npmOfNode20, runIn } from './clients.ts';
import { type Project, projects, projectsOfNode20, watched, wrongEngine, wrongPeer } from './projects.ts';
import type { Published } from './publish.ts';

const execute = promisify(execFile);

export interface Strangers {
  readonly published: readonly Published[];
  /** Each project has a folder in it. */
  readonly folder: string;
  readonly tools: string;
  readonly env: Environment;
}

/** Installs each project with each client, runs it and compiles it. Returns what is wrong. */
export async function tryAsStrangers(strangers: Strangers): Promise<string[]> {
  const npm20 = npmOfNode20(strangers.tools);
  // By day npm, the strictest about peers. The checks of imports and of unused dependencies find what Yarn and pnpm would refuse.
  const triedClients = byDay(clients, ({ name }) => name === 'npm');
  const tries = [
    ...triedClients.flatMap((client) => projects.map((project) => ({ client, project }))),
    ...projectsOfNode20.map((project) => ({ client: npm20, project })),
  ];
  const problems: string[] = [];
  await inParallel(tries, async ({ client, project }) => {
    const found = await tryProject(strangers, client, project).catch((error: Error) => [error.message]);
    problems.push(...found.map((problem) => `${client.name}, ${project.name}: ${problem}`));
  });
  for (const client of triedClients.filter(({ complaint }) => complaint))
    problems.push(...(await complaintIsMissing(strangers, client, wrongPeer)));
  problems.push(...(await complaintIsMissing(strangers, npm20, wrongEngine)));
  return problems;
}

async function tryProject({ published, folder, env }: Strangers, client: Client, project: Project): Promise<string[]> {
  const home = folderOf(folder, client, project);
  const complaints = await install(client, project, home, env);
  if (complaints.length > 0) return complaints;
  const manifests = published
    .map(({ manifest }) => manifest)
    .filter(({ name }) => project.ours.includes(name.replace('@service-auth/', '')));
  const specifiers = manifests.flatMap((manifest) =>
    Object.entries(manifest.exports)
      .filter(([path, entry]) => typeof entry !== 'string' && needsNothingElse(path, project))
      .map(([path]) => manifest.name + path.slice(1)),
  );
  writeFileSync(join(home, 'use.mjs'), programOf(project, specifiers, manifests[0]?.version ?? ''));
  await runIn(home, env, [...client.run, 'use.mjs']);
  const problems = wrongTree(client.installed(home), project, manifests[0]?.version ?? '');
  // By day the check `packed` compiles them. The compiler does not know Yarn's Plug'n'Play.
  return !isNight || client.name === 'yarn' || specifiers.length === 0
    ? problems
    : [...problems, ...(await wrongTypes(home, specifiers))];
}

/** The entries for axios and for Terminus are for those who have them. */
function needsNothingElse(path: string, { others }: Project): boolean {
  const peers: Readonly<Record<string, string>> = { './axios': '@nestjs/axios', './terminus': '@nestjs/terminus' };
  const peer = peers[path];
  return peer === undefined || peer in others;
}

/** Everything that is wrong with what a client installed: `axios@1.21.1` for each copy. */
export function wrongTree(
  installed: readonly string[],
  { ours, others, brings = [] }: Project,
  version: string,
): string[] {
  const own = installed.filter((name) => name.startsWith('@service-auth/'));
  const copies = own.filter((name, index) => own.indexOf(name) !== index || !name.endsWith(`@${version}`));
  const names = new Set(installed.map((name) => name.slice(0, name.lastIndexOf('@'))));
  const wanted = new Set([...ours.map((name) => `@service-auth/${name}`), ...Object.keys(others), ...brings]);
  const unasked = [...names]
    .filter((name) => watched.includes(name) || name.startsWith('@service-auth/'))
    .filter((name) => !wanted.has(name));
  const missing = [...wanted].filter((name) => !names.has(name));
  return [
    ...copies.map((name) => `another copy is installed: ${name}.`),
    ...unasked.map((name) => `${name} is installed, and nobody asked for it.`),
    ...missing.map((name) => `${name} is not installed.`),
  ];
}

/** Imports every entry. With the HTTP clients it also sends a request with each, and all have the same token. */
function programOf({ ours }: Project, specifiers: readonly string[], version: string): string {
  const imports = specifiers.map((specifier) => `await import('${specifier}');\n`).join('');
  if (!ours.includes('testing')) return imports;
  return `${imports}
    import { createServiceAuth } from '@service-auth/core';
    import { attachServiceAuth } from '@service-auth/axios';
    import { createAuthFetch } from '@service-auth/fetch';
    import { serviceAuth } from '@service-auth/got';
    import { serviceAuthInterceptor } from '@service-auth/undici';
    import { startTestService } from '@service-auth/testing';
    import axios from 'axios';
    import got from 'got';
    import { Agent, request } from 'undici';

    try {
      createServiceAuth({});
      throw new Error('Wrong options were accepted');
    } catch ({ message }) {
      if (!message.endsWith('${errorPageOf(version)}#err_config')) throw new Error('A message ends otherwise: ' + message);
    }
    const service = await startTestService();
    const client = () => createServiceAuth(service.options);
    const url = service.options.baseUrl + '/api/v1/orders';
    const instance = axios.create();
    attachServiceAuth(instance, client());
    await instance.get(url);
    await got.extend(serviceAuth(client()))(url);
    const statuses = [(await createAuthFetch(client())(url)).status];
    // Bun gives its own module for undici, which has no interceptors.
    if (!process.versions.bun) {
      const dispatcher = new Agent().compose(serviceAuthInterceptor(client()));
      statuses.push((await request(url, { dispatcher })).statusCode);
    }
    if (statuses.some((status) => status !== 200)) throw new Error('The API answered ' + statuses);
    if (service.counts.issued !== 1) throw new Error(service.counts.issued + ' tokens were issued');
    process.exit();
  `;
}

async function wrongTypes(home: string, specifiers: readonly string[]): Promise<string[]> {
  const exports = specifiers.map((specifier, index) => `export * as _${index} from '${specifier}';\n`);
  writeFileSync(join(home, 'all.ts'), exports.join(''));
  const compilerOptions = {
    module: 'NodeNext',
    target: 'ES2022',
    lib: ['ES2022'],
    strict: true,
    noEmit: true,
    types: ['node'],
    skipLibCheck: false,
  };
  writeFileSync(join(home, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['all.ts'] }));
  const tsc = join(root, 'node_modules/.bin/tsc');
  const { stdout } = await execute(tsc, ['--pretty', 'false'], { cwd: home }).catch((error) => {
    if (typeof error.code !== 'number') throw error;
    return error as { stdout: string };
  });
  // Mistakes in the declarations of others are not ours to judge.
  return stdout.split('\n').filter((line) => /^all\.|^error|@service-auth[/+]/.test(line));
}

async function complaintIsMissing({ folder, env }: Strangers, client: Client, project: Project): Promise<string[]> {
  const complaints = await install(client, project, folderOf(folder, client, project), env);
  return complaints.length > 0
    ? []
    : [`${client.name} says nothing about ${project.name}, so its silence means nothing.`];
}

function folderOf(folder: string, client: Client, project: Project): string {
  return join(folder, client.name.replaceAll(' ', '-').toLowerCase(), project.name);
}
