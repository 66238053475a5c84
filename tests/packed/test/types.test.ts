import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readPackages, root } from '@service-auth/test-tools/packages/packages';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { run, write } from '../consumer.ts';

const packages = readPackages();
const folder = join(inject('consumers'), 'all');

const preamble = `import { attachServiceAuth } from '@service-auth/axios';
import { createServiceAuth, type ServiceAuth } from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';
import { ServiceAuthModule } from '@service-auth/nestjs';
import axios from 'axios';
declare const auth: ServiceAuth;
const [authUrl, audience] = ['https://auth.example.com', 'https://api.example.com'];
const given = { authUrl, audience, clientId: 'mine', clientSecret: 'secret' };`;
/** What people get wrong, and what an editor has to name or to underline then. */
const wrong: readonly (readonly [code: string, named: string])[] = [
  ['createServiceAuth({ authUrl, audience });', 'clientId'],
  ["createServiceAuth({ ...given, timeoutMs: '30s' });", 'timeoutMs'],
  ['createServiceAuth({ ...given, timeoutMS: 30_000 });', 'timeoutMs'],
  [
    'createServiceAuth({ ...given, issuanceLimit: { tokens: 150, windows: [{ tokens: 10, windowMs: 1 }] } });',
    'windows',
  ],
  ['createServiceAuth({ ...given, store: {} });', 'store'],
  ['attachServiceAuth(auth, axios.create());', 'auth'],
  ['attachServiceAuth(axios.create(), axios.create());', 'axios.create()'],
  ['createAuthFetch({ fetch });', 'fetch'],
  ['ServiceAuthModule.forRoot({ ...given, warmup: true });', 'warmUp'],
];

beforeAll(() => {
  const importAll = (names: string[]) => names.map((name, index) => `export * as _${index} from '${name}';\n`).join('');
  const requirable = packages.filter(({ hasCommonJs }) => hasCommonJs).flatMap(({ specifiers }) => specifiers);
  write(folder, 'all.mts', importAll(packages.flatMap(({ specifiers }) => specifiers)));
  write(
    folder,
    'all.cts',
    requirable.map((name, index) => `import _${index} = require('${name}');\nexport { _${index} };\n`).join(''),
  );
  write(
    folder,
    'main.ts',
    importAll(packages.filter(({ hasCommonJs }) => hasCommonJs).map(({ manifest }) => manifest.name)),
  );
  write(folder, 'wrong.mts', `${preamble}\n${wrong.map(([code]) => code).join('\n')}\n`);
  write(folder, 'web.mts', importAll(['@service-auth/core', '@service-auth/core/http', '@service-auth/fetch']));
});

describe.each([
  { compiler: 'TypeScript 7', tsc: join(root, 'node_modules/.bin/tsc'), entries: ['all.mts', 'all.cts'] },
  {
    // With an older one, `await using` and some of our declarations are not understood.
    compiler: 'TypeScript 5.2, the oldest',
    tsc: join(root, 'tests/packed/node_modules/typescript-oldest/bin/tsc'),
    // It lets no CommonJS module import an ES module, such as Nest 12.
    entries: ['all.mts'],
  },
])('$compiler', ({ tsc, entries }) => {
  test('compiles every entry under the strictest options', async () => {
    expect(await mistakes(tsc, { lib: ['ES2022'], types: ['node'] }, entries)).toEqual([]);
  });

  test('compiles every entry as a bundler resolves it', async () => {
    const bundler = { module: 'ESNext', moduleResolution: 'bundler', lib: ['ES2022'], types: ['node'] };
    expect(await mistakes(tsc, bundler, ['all.mts'])).toEqual([]);
  });

  test('names or underlines the option that is wrong', async () => {
    const source = `${preamble}\n`.split('\n').length;
    const said = await outputOf(tsc, { lib: ['ES2022', 'DOM'], types: ['node'] }, ['wrong.mts']);
    const errors = said.split(/^(?=wrong\.mts\()/m);
    wrong.forEach(([code, named], index) => {
      const error = errors.find((each) => each.startsWith(`wrong.mts(${source + index},`)) ?? '';
      const column = Number(/,(\d+)\): error/.exec(error)?.[1]);
      expect(`${code.slice(column - 1)} ${error}`, code).toContain(named);
      expect(column, code).toBeGreaterThan(0);
    });
  });

  test('compiles core and the fetch adapter for the web, without the types of Node', async () => {
    expect(await mistakes(tsc, { lib: ['ES2022', 'DOM'], types: [] }, ['web.mts'])).toEqual([]);
  });

  test('compiles every example', async () => {
    const examples = readdirSync(join(folder, 'examples')).filter((name) => name.endsWith('.ts'));
    const options = { lib: ['ES2022', 'ESNext.Disposable'], types: ['node'], allowImportingTsExtensions: true };
    const files = examples.map((name) => `examples/${name}`);
    expect(await mistakes(tsc, options, files)).toEqual([]);
  });
});

test('TypeScript 5.2 compiles every package with CommonJS as node10 resolves it', async () => {
  const oldest = join(root, 'tests/packed/node_modules/typescript-oldest/bin/tsc');
  const node10 = { module: 'CommonJS', moduleResolution: 'node10', lib: ['ES2022'], types: ['node'] };
  expect(await mistakes(oldest, node10, ['main.ts'])).toEqual([]);
});

/** Returns what a compiler says of our declarations and of those who use them. What foreign declarations get wrong is not ours to judge. */
async function mistakes(tsc: string, options: object, files: string[]): Promise<string[]> {
  const ours = /^(all|main|web)\.|^examples\/|^error|^node_modules\/@service-auth\//;
  return (await outputOf(tsc, options, files)).split('\n').filter((line) => ours.test(line));
}

async function outputOf(tsc: string, options: object, files: string[]): Promise<string> {
  const strictest = { module: 'NodeNext', target: 'ES2022', strict: true, exactOptionalPropertyTypes: true };
  const compilerOptions = { ...strictest, noEmit: true, ...options };
  write(folder, 'tsconfig.json', JSON.stringify({ compilerOptions, files }));
  return await run(folder, tsc, ['--pretty', 'false']).catch((error: Error) => {
    // A compiler that is missing or breaks has judged nothing.
    if (!/error TS\d/.test(error.message)) throw error;
    return error.message;
  });
}
