import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeEntries, type Manifest, readPackages, sourceCondition } from '@service-auth/test-tools/packages/packages';
import { beforeAll, expect, inject, test } from 'vitest';
import { run, write } from '../consumer.ts';

const nodes = inject('nodes');
const packages = readPackages();
const folder = join(inject('consumers'), 'all');

test.each(packages.map(({ manifest }) => manifest.name))('%s has its files and nothing of the workspace', (name) => {
  const installed = join(folder, 'node_modules', name);
  const text = readFileSync(join(installed, 'package.json'), 'utf8');
  for (const leftover of [sourceCondition, 'workspace:', 'catalog:', 'install"']) expect(text).not.toContain(leftover);
  const entries = codeEntries(JSON.parse(text) as Manifest).flatMap(([, entry]) => [
    entry,
    entry.import,
    entry.require,
  ]);
  const named = entries.flatMap((entry) => [entry?.types, entry?.default]).filter((file) => file !== undefined);
  for (const file of ['README.md', 'LICENSE', ...named]) expect(existsSync(join(installed, file)), file).toBe(true);
  const code = globSync('**', { cwd: join(installed, 'dist'), withFileTypes: true }).filter((file) => file.isFile());
  expect(code.length).toBeGreaterThan(0);
  expect(code.map((file) => file.name).filter((file) => !/\.(c?js|d\.c?ts)$/.test(file))).toEqual([]);
});

beforeAll(() => write(folder, 'load.js', loader()));

test.each(nodes)(
  'every entry is imported and required on Node $major, and two copies of core share a token',
  async ({ file }) => {
    await run(folder, file, ['load.js']);
  },
);

function loader(): string {
  const specifiers = packages.flatMap((published) => published.specifiers);
  const requirable = packages.filter(({ hasCommonJs }) => hasCommonJs).flatMap((published) => published.specifiers);
  return `import { createRequire } from 'node:module';
    const requirable = new Set(${JSON.stringify(requirable)});
    const namesOf = (module) => Object.keys(module).filter((name) => !['default', 'module.exports', '__esModule'].includes(name)).sort().join();
    for (const specifier of ${JSON.stringify(specifiers)}) {
      const imported = namesOf(await import(specifier));
      if (imported === '') throw new Error(specifier + ' exports nothing');
      if (!requirable.has(specifier)) continue;
      const required = namesOf(createRequire(import.meta.url)(specifier));
      if (required !== imported) throw new Error(specifier + ' exports ' + imported + ' to import, but ' + required + ' to require');
    }
    const copies = [await import('@service-auth/core'), createRequire(import.meta.url)('@service-auth/core')];
    if (copies[0].createServiceAuth === copies[1].createServiceAuth) throw new Error('import and require give the same copy of core');
    let issued = 0;
    const body = JSON.stringify({ access_token: 'token', token_type: 'Bearer', expires_in: 86400 });
    const transport = async () => ({ status: 200, headers: {}, body, issued: issued++ });
    const options = { authUrl: 'https://auth.example.com', audience: 'a', clientId: 'c', clientSecret: 's', transport };
    for (const { createServiceAuth } of copies) await createServiceAuth(options).getToken();
    if (issued !== 1) throw new Error(issued + ' tokens were issued to the copies of core that import and require give');`;
}
