import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../support/tools/end-with-this-process.ts';
import { assertLoopback, nextVersion } from '../publish.ts';
import { wrongTree } from '../strangers.ts';
import { wrongVersions } from '../tarballs.ts';

test.each([
  ['https://registry.example.com/', /Nothing was/],
  ['http://127.0.0.1.example.com:4873/', /Nothing was/],
  ['http://0.0.0.0:4873/', /Nothing was/],
])('nothing is published to %s', (address, problem) => {
  expect(() => assertLoopback('registry of npm', address)).toThrow(problem);
});

test('a rehearsal is published to loopback', () => {
  assertLoopback('registry of npm', 'http://127.0.0.1:4873/');
  assertLoopback('@service-auth:registry of npm', 'undefined');
});

test.each([
  [['patch', 'patch'], '0.3.2'],
  [['patch', 'minor', 'patch'], '0.4.0'],
  [['major', 'minor'], '1.0.0'],
  [[], '0.3.1'],
])('the changesets %j make 0.3.1 to %s', (bumps, expected) => {
  const folder = temporaryFolder(join(tmpdir(), 'service-auth-changesets-'));
  for (const name of ['packages/core', '.changeset']) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, 'packages/core/package.json'), JSON.stringify({ version: '0.3.1' }));
  for (const [index, bump] of bumps.entries())
    writeFileSync(
      join(folder, `.changeset/${index}.md`),
      `---\n'@service-auth/core': ${bump}\n---\n\nNext: major news\n`,
    );
  expect(nextVersion(folder)).toBe(expected);
});

test('a tree has each of our packages once, and no client that nobody asked for', () => {
  const project = { name: 'one', ours: ['core', 'axios'], others: { axios: '1.21.1' } };
  const own = ['@service-auth/core@0.1.0', '@service-auth/axios@0.1.0', 'axios@1.21.1', 'form-data@4.0.6'];
  expect(wrongTree(own, project, '0.1.0')).toEqual([]);
  expect(wrongTree([...own, '@service-auth/core@0.1.0'], project, '0.1.0')).toEqual([
    'another copy is installed: @service-auth/core@0.1.0.',
  ]);
  expect(wrongTree([...own, '@service-auth/core@0.0.9'], project, '0.1.0')).toEqual([
    'another copy is installed: @service-auth/core@0.0.9.',
  ]);
  expect(wrongTree([...own, 'got@16.1.0', '@service-auth/got@0.1.0'], project, '0.1.0')).toEqual([
    'got is installed, and nobody asked for it.',
    '@service-auth/got is installed, and nobody asked for it.',
  ]);
  expect(wrongTree(own.slice(1), project, '0.1.0')).toEqual(['@service-auth/core is not installed.']);
});

test('a README names only the version that is published', () => {
  const readme =
    'npm install @service-auth/core@0.1.0\nnpm install @service-auth/core@^0.0.9\nService Auth 0.2.0\naxios@1.21.1';
  expect(wrongVersions('0.1.0', readme)).toEqual(['npm install @service-auth/core@^0.0.9', 'Service Auth 0.2.0']);
});
