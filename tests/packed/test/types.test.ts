import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { byDay } from '@service-auth/test-tools/night';
import { readPackages, root } from '@service-auth/test-tools/packages/packages';
import { beforeAll, expect, inject, test } from 'vitest';
import { run, write } from '../consumer.ts';

const packages = readPackages();
const folder = join(inject('consumers'), 'all');
const pinned = (name: string) => join(root, 'tests/packed/node_modules', name, 'bin/tsc');
const compilers = {
  '5.0, the oldest': pinned('typescript-5.0'),
  // The oldest one that knows `await using` and is not older than the types of Node.
  '5.4': pinned('typescript-5.4'),
  '5.9': pinned('typescript-5.9'),
  '6': join(root, 'node_modules/typescript/bin/tsc6'),
  '7': join(root, 'node_modules/typescript-7/bin/tsc'),
};
type Version = keyof typeof compilers;

const strictest = {
  target: 'ES2022',
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: false,
  noEmit: true,
};
const resolutions = {
  node10: { module: 'ES2022', moduleResolution: 'node10' },
  node16: { module: 'Node16', moduleResolution: 'Node16' },
  nodeNext: { module: 'NodeNext', moduleResolution: 'NodeNext' },
  bundler: { module: 'ES2022', moduleResolution: 'bundler' },
};
type Resolution = keyof typeof resolutions;
// TypeScript 7 has no node10 any more, and 6 wants to be told that it is used on purpose.
const ignoresDeprecations = { ignoreDeprecations: '6.0' };

beforeAll(() => {
  const importAll = (names: string[]) => names.map((name, index) => `export * as _${index} from '${name}';\n`).join('');
  const requirable = packages.filter(({ hasCommonJs }) => hasCommonJs).flatMap(({ specifiers }) => specifiers);
  const specifiers = packages.flatMap((published) => published.specifiers);
  write(folder, 'all.mts', importAll(specifiers));
  // got itself has no types for a compiler that doesn't read `exports`.
  write(folder, 'all-node10.ts', importAll(specifiers.filter((name) => name !== '@service-auth/got')));
  write(
    folder,
    'all.cts',
    requirable.map((name, index) => `import _${index} = require('${name}');\nexport { _${index} };\n`).join(''),
  );
  write(folder, 'web.mts', importAll(['@service-auth/core', '@service-auth/core/http', '@service-auth/fetch']));
});

const compilations: readonly [Version, Resolution, ...string[]][] = [
  ['5.0, the oldest', 'node10', 'all-node10.ts'],
  // Only TypeScript 5.8 and newer let a CommonJS module import an ES module, such as Nest 12, and only with NodeNext.
  ['5.0, the oldest', 'node16', 'all.mts'],
  ['5.0, the oldest', 'bundler', 'all.mts'],
  ['5.9', 'nodeNext', 'all.mts', 'all.cts'],
  ['6', 'node10', 'all-node10.ts'],
  ['7', 'nodeNext', 'all.mts', 'all.cts'],
  ['7', 'bundler', 'all.mts'],
];
// Each oldest resolution that a reader may have, and the newest one, which alone requires.
const isTried = ([version, resolution]: (typeof compilations)[number]) =>
  version === '7' ? resolution === 'nodeNext' : version.startsWith('5.0') && resolution !== 'bundler';

test.each(byDay(compilations, isTried))(
  'TypeScript %s with %s compiles every entry under the strictest options',
  async (version, resolution, ...files) => {
    const options = { ...resolutions[resolution], ...(version === '6' && ignoresDeprecations) };
    expect(await mistakes(version, { ...options, lib: ['ES2022'], types: ['node'] }, files)).toEqual([]);
  },
);

const isOldest = (version: Version) => version !== '7';

test.each(byDay<Version>(['5.0, the oldest', '7'], isOldest))(
  'TypeScript %s compiles core and the fetch adapter for the web, without the types of Node',
  async (version) => {
    expect(
      await mistakes(version, { ...resolutions.nodeNext, lib: ['ES2022', 'DOM'], types: [] }, ['web.mts']),
    ).toEqual([]);
  },
);

test.each(byDay<Version>(['5.4', '7'], (version) => version === '7'))(
  'TypeScript %s compiles every example',
  async (version) => {
    const examples = readdirSync(join(folder, 'examples')).filter((name) => name.endsWith('.ts'));
    // The symbols of `await using` come with the client.
    const options = { ...resolutions.nodeNext, lib: ['ES2022'], types: ['node'], allowImportingTsExtensions: true };
    const files = examples.map((name) => `examples/${name}`);
    expect(await mistakes(version, options, files)).toEqual([]);
  },
);

const preparation = `import { attachServiceAuth } from '@service-auth/axios';
import { createServiceAuth } from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';
import { fileStore } from '@service-auth/file';
import { postgresStore } from '@service-auth/postgres';
import { redisStore } from '@service-auth/redis';
import axios from 'axios';
const options = { authUrl: 'https://auth.example.com', audience: 'a', clientId: 'c', clientSecret: 's' };
const auth = createServiceAuth(options);
const { clientId, ...withoutClientId } = options;
`;

/** What an editor names or underlines, by the mistake. */
const deliberate: Readonly<Record<string, string>> = {
  'createServiceAuth(withoutClientId)': 'clientId',
  "createServiceAuth({ ...options, clientID: 'c' })": 'clientId',
  "createServiceAuth({ ...options, timeoutMs: '30000' })": 'timeoutMs',
  'createServiceAuth({ ...options, clientSecret: () => 1 })': 'clientSecret',
  "createServiceAuth({ ...options, onEvent: 'log' })": 'onEvent',
  "createServiceAuth({ ...options, store: '/var/lib/tokens' })": 'store',
  'createServiceAuth({ ...options, store: fileStore })': 'Store',
  'createServiceAuth({ ...options, issuanceLimit: 150 })': 'issuanceLimit',
  "createServiceAuth({ ...options, issuanceLimit: { tokens: '150' } })": 'tokens',
  'createServiceAuth({ ...options, issuanceLimit: { token: 150 } })': 'tokens',
  'createServiceAuth({ ...options, issuanceLimit: { windows: [{ tokens: 150 }] } })': 'windowMs',
  'createServiceAuth({ ...options, issuanceLimit: { tokens: 150, windows: [{ tokens: 9, windowMs: 1_000 }] } })':
    'windows|tokens',
  'attachServiceAuth(auth, auth)': 'AttachableAxios',
  'attachServiceAuth(axios, axios)': 'TokenSource',
  'attachServiceAuth(axios, options)': 'TokenSource',
  'createAuthFetch(options)': 'TokenSource',
  'redisStore(auth)': 'RedisClient',
  "redisStore('redis://localhost')": 'RedisClient',
  'postgresStore(auth)': 'Queryable',
  "fileStore({ directory: '/tmp' })": 'directory',
};

test.each(byDay<Version>(['5.0, the oldest', '7'], isOldest))(
  'TypeScript %s names the option of each mistake',
  async (version) => {
    const source = preparation + Object.keys(deliberate).join(';\n');
    write(folder, 'deliberate.ts', source);
    const options = { ...resolutions.bundler, lib: ['ES2022', 'DOM'], types: ['node'], skipLibCheck: true };
    const output = await compile(version, options, ['deliberate.ts']);
    const first = preparation.split('\n').length;
    const said = new Map<string, string>();
    for (const [, line, column, message] of output.matchAll(/^deliberate\.ts\((\d+),(\d+)\): (.*(?:\n .*)*)/gm)) {
      const mistake = source.split('\n')[Number(line) - 1]?.replace(/;$/, '') ?? '';
      const underlined = /^\w+/.exec(mistake.slice(Number(column) - 1))?.[0];
      said.set(mistake, `${said.get(mistake) ?? ''}${underlined}: ${message}\n`);
    }
    expect([...said.keys()]).toEqual(source.split(/;?\n/).slice(first - 1));
    for (const [mistake, name] of Object.entries(deliberate))
      expect(said.get(mistake), mistake).toMatch(new RegExp(`\\b(${name})\\b`));
  },
);

/** Returns what a compiler says of our declarations and of those who use them. What foreign declarations get wrong is not ours to judge. */
async function mistakes(version: Version, options: object, files: readonly string[]): Promise<string[]> {
  const ours = /^(all|web)[.-]|^examples\/|^error|^tsconfig|^node_modules\/@service-auth\//;
  return (await compile(version, options, files)).split('\n').filter((line) => ours.test(line));
}

async function compile(version: Version, options: object, files: readonly string[]): Promise<string> {
  write(folder, 'tsconfig.json', JSON.stringify({ compilerOptions: { ...strictest, ...options }, files }));
  return run(folder, compilers[version], ['--pretty', 'false']).catch((error: Error) => {
    // A compiler that is missing or breaks has judged nothing.
    if (!/error TS\d/.test(error.message)) throw error;
    return error.message;
  });
}
