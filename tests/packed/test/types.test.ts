import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readPackages, root } from '@service-auth/test-tools/packages/packages';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { run, write } from '../consumer.ts';

const packages = readPackages();
const folder = join(inject('consumers'), 'all');

beforeAll(() => {
  const importAll = (names: string[]) => names.map((name, index) => `export * as _${index} from '${name}';\n`).join('');
  const requirable = packages.filter(({ hasCommonJs }) => hasCommonJs).flatMap(({ specifiers }) => specifiers);
  write(folder, 'all.mts', importAll(packages.flatMap(({ specifiers }) => specifiers)));
  write(
    folder,
    'all.cts',
    requirable.map((name, index) => `import _${index} = require('${name}');\nexport { _${index} };\n`).join(''),
  );
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

/** Returns what a compiler says of our declarations and of those who use them. What foreign declarations get wrong is not ours to judge. */
async function mistakes(tsc: string, options: object, files: string[]): Promise<string[]> {
  const strictest = { module: 'NodeNext', target: 'ES2022', strict: true, exactOptionalPropertyTypes: true };
  const compilerOptions = { ...strictest, noEmit: true, ...options };
  write(folder, 'tsconfig.json', JSON.stringify({ compilerOptions, files }));
  const output = await run(folder, tsc, ['--pretty', 'false']).catch((error: Error) => {
    // A compiler that is missing or breaks has judged nothing.
    if (!/error TS\d/.test(error.message)) throw error;
    return error.message;
  });
  const ours = /^(all|web)\.|^examples\/|^error|^node_modules\/@service-auth\//;
  return output.split('\n').filter((line) => ours.test(line));
}
