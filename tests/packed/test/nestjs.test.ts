import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { byDay } from '@service-auth/test-tools/night';
import { root } from '@service-auth/test-tools/packages/packages';
import { describe, inject, test } from 'vitest';
import { tryNestjsApp } from '../../../examples/test/try-nestjs-app.ts';
import { bundleNestjsApp, nestVersions, run, write } from '../consumer.ts';

const nodes = inject('nodes');
const classicCommonJs = ['--module', 'commonjs', '--moduleResolution', 'node10', '--ignoreDeprecations', '6.0'];

describe.each(Object.keys(nestVersions))('the application of the examples with Nest %s', (version) => {
  // By day each version as most have it: an application of Nest 10 is CommonJS, one of Nest 12 an ES module.
  test.each(byDay(['module', 'commonjs'], (type) => (type === 'module') === (version === '12')))(
    'compiles to a %s and runs on every Node, bundled into one file, too',
    { timeout: 300_000 },
    async (type) => {
      const folder = join(inject('consumers'), `nest-${version}`, type);
      // Until Nest 12 the Nest CLI set up projects that know no `exports`.
      const isClassic = type === 'commonjs' && version !== '12';
      cpSync(join(root, 'examples/nestjs-app'), folder, { recursive: true });
      write(folder, 'package.json', JSON.stringify({ type }));
      const tsc = join(root, 'node_modules/.bin', isClassic ? 'tsc6' : 'tsc');
      await run(folder, tsc, ['--project', '.', '--pretty', 'false', ...(isClassic ? classicCommonJs : [])]);
      const main = join(folder, 'dist/main.js');
      // Outside of the consumer, so that the file finds no package but those that are in it.
      const elsewhere = join(inject('consumers'), `bundled-${version}-${type}`);
      // Nest 12 reads import.meta.url.
      const bundle = await bundleNestjsApp(main, isClassic ? 'cjs' : 'esm', elsewhere);
      for (const program of [main, bundle]) await Promise.all(nodes.map(({ file }) => tryNestjsApp(file, [program])));
    },
  );
});
