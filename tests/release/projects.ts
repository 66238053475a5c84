import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Manifest, root } from '../support/tools/packages/packages.ts';

/** A project of somebody who wants some of our packages. */
export interface Project {
  readonly name: string;
  /** Our packages, without the scope. */
  readonly ours: readonly string[];
  /** The packages of others beside them, with their versions. */
  readonly others: Readonly<Record<string, string>>;
  /** The watched packages that may come although nobody asked for them. */
  readonly brings?: readonly string[];
}

/** HTTP clients, frameworks and drivers that our packages work with. None of them may come unless it was asked for. */
export const watched: readonly string[] = [
  ...['axios', 'got', 'undici'],
  ...['@nestjs/axios', '@nestjs/common', '@nestjs/core', '@nestjs/terminus'],
  ...[
    'redis',
    '@redis/client',
    'ioredis',
    'iovalkey',
    'pg',
    'postgres',
    'mysql2',
    'mariadb',
    '@aws-sdk/client-dynamodb',
  ],
  ...['@opentelemetry/api', '@opentelemetry/sdk-metrics', '@opentelemetry/sdk-trace'],
];

const nest = newest('@nestjs/common', '@nestjs/core', '@nestjs/platform-express', 'reflect-metadata', 'rxjs');
const types = { '@types/node': versionOf('.', '@types/node') };

/** With the newest versions that the tests run with. */
export const projects: readonly Project[] = [
  {
    name: 'clients',
    ours: ['core', 'axios', 'fetch', 'got', 'undici', 'testing'],
    others: { ...newest('axios', 'got', 'undici'), ...types },
  },
  {
    name: 'stores',
    ours: ['core', 'dynamodb', 'fetch', 'file', 'mysql', 'postgres', 'redis', 'sqlite'],
    others: { ...newest('@aws-sdk/client-dynamodb'), ...types },
  },
  {
    name: 'telemetry',
    ours: ['core', 'opentelemetry'],
    others: { ...newest('@opentelemetry/api'), ...types },
  },
  // Without axios, so its entry for axios is not imported.
  { name: 'nest', ours: ['core', 'nestjs'], others: { ...nest, ...types } },
  {
    name: 'nest-axios',
    ours: ['core', 'nestjs', 'axios'],
    others: { ...nest, ...newest('axios', '@nestjs/axios', '@nestjs/terminus'), ...types },
  },
  {
    name: 'program',
    ours: ['cli'],
    others: {},
    // Its own dependencies, and a part and a peer of them.
    brings: [...dependenciesOfOurs('cli'), '@redis/client', '@opentelemetry/api'],
  },
];

/** The packages that work on Node 20, with clients that do. */
export const projectsOfNode20: readonly Project[] = [
  {
    name: 'clients',
    ours: ['core', 'axios', 'fetch', 'got', 'undici', 'testing'],
    others: {
      ...newest('axios'),
      got: versionOf('packages/got', 'got-oldest'),
      undici: versionOf('packages/undici', 'undici-7'),
      ...types,
    },
  },
  {
    name: 'stores',
    ours: ['core', 'file', 'mysql', 'postgres', 'redis'],
    others: { ...newest('redis', 'pg', 'mysql2'), ...types },
    brings: ['@redis/client'],
  },
  {
    name: 'nest',
    ours: ['core', 'nestjs', 'axios'],
    // Nest 12 says that it works on Node 20, but one of its dependencies does not.
    others: { ...dependenciesOf('tests/compat/nest-11-newest'), ...types },
  },
];

/** Its axios is older than our peer range. Clients that warn must warn of it, or their silence elsewhere means nothing. */
export const wrongPeer: Project = { name: 'wrong-peer', ours: ['core', 'axios'], others: { axios: '0.27.2' } };

/** The program says that it needs Node 22. */
export const wrongEngine: Project = { name: 'wrong-engine', ours: ['cli'], others: {} };

function newest(...names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, versionOf('examples', name)]));
}

function dependenciesOfOurs(name: string): string[] {
  const file = join(root, 'packages', name, 'package.json');
  return Object.keys((JSON.parse(readFileSync(file, 'utf8')) as Manifest).dependencies ?? {});
}

function dependenciesOf(folder: string): Record<string, string> {
  const { dependencies = {} } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest;
  return Object.fromEntries(Object.keys(dependencies).map((name) => [name, versionOf(folder, name)]));
}

function versionOf(folder: string, name: string): string {
  const file = join(root, folder, 'node_modules', name, 'package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as Manifest).version;
}
