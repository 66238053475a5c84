import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../tests/support/tools/end-with-this-process.ts';

const check = fileURLToPath(new URL('../check-imports.ts', import.meta.url));

/** Returns the findings of the check in a repository with these files. */
function findingsIn(files: Readonly<Record<string, string>>): string[] {
  const folder = temporaryFolder(join(tmpdir(), 'service-auth-imports-'));
  execFileSync('git', ['init', '--quiet'], { cwd: folder });
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  const { status, stderr } = spawnSync(process.execPath, [check, folder], { encoding: 'utf8' });
  expect(status).toBe(1);
  return stderr.split('\n');
}

test('circles and forbidden imports fail the check, each with a sentence', () => {
  const core = { exports: { '.': { '@service-auth/source': './src/index.ts' } }, name: '@service-auth/core' };
  const findings = findingsIn({
    'packages/core/package.json': JSON.stringify(core),
    'packages/core/src/index.ts': "export { decide } from './ledger/decide.ts';",
    'packages/core/src/ledger/decide.ts': "import type { Event } from '../contract/events.ts';",
    'packages/core/src/contract/events.ts': "type Lazy = import('./lazy.ts').Lazy;",
    'packages/core/src/contract/lazy.ts': "void import('./events.ts');",
    'packages/core/src/contract/limit.ts': "import type { Limit } from '../ledger/limit.ts';",
    'packages/core/src/token/memory.ts': "import { x } from '../contract/events.ts';",
    'packages/core/src/record/shared-record.ts': "import type { UsableToken } from '../token/cached-token.ts';",
    'packages/core/src/usage/usage.ts': "import { need } from '../token/memory.ts';",
    'packages/core/src/sql/index.ts': "import type { View } from '../record/shared-record.ts';",
    'packages/core/src/ground/now.ts': "import { x } from '../contract/events.ts';",
    'packages/core/src/platform/clock.ts': "import { now } from '../ground/now.ts';",
    'packages/core/test/index.test.ts': "import { y } from '../../../scripts/check.ts';",
    'packages/axios/test/index.test.ts': "import { z } from '../../../tests/chaos/index.ts';",
    'scripts/check.ts': '',
    'tests/chaos/index.ts': '',
    'tests/support/tools/redis.ts': "import { createServiceAuth } from '@service-auth/core';",
  });
  expect(findings).toContain(
    'packages/core/src/contract/events.ts -> packages/core/src/contract/lazy.ts -> packages/core/src/contract/events.ts is a circle of files.',
  );
  expect(findings).toContain(
    'packages/core/src/contract -> packages/core/src/ledger -> packages/core/src/contract is a circle of folders.',
  );
  const forbidden = findings.map((line) => /^(\S+) imports (\S+), but /.exec(line)?.slice(1)).filter(Boolean);
  expect(forbidden).toEqual(
    expect.arrayContaining([
      ['packages/core/src/ledger/decide.ts', 'packages/core/src/contract/events.ts'],
      ['packages/core/src/token/memory.ts', 'packages/core/src/contract/events.ts'],
      ['packages/core/src/record/shared-record.ts', 'packages/core/src/token/cached-token.ts'],
      ['packages/core/src/sql/index.ts', 'packages/core/src/record/shared-record.ts'],
      ['packages/core/src/platform/clock.ts', 'packages/core/src/ground/now.ts'],
      ['packages/core/test/index.test.ts', 'scripts/check.ts'],
      ['packages/axios/test/index.test.ts', 'tests/chaos/index.ts'],
      ['tests/support/tools/redis.ts', 'packages/core/src/index.ts'],
    ]),
  );
  expect(forbidden).toHaveLength(8);
});

test('a value from a package that a row allows as types alone fails the check, and so does a package without a row', () => {
  const findings = findingsIn({
    'packages/fetch/package.json': '{}',
    'packages/fetch/src/index.ts':
      "import type { AccessToken } from '@service-auth/core';\nimport { isServiceAuthError } from '@service-auth/core';",
    'packages/other/package.json': '{}',
  });
  expect(findings).toContain('packages/fetch/src/index.ts imports @service-auth/core as a value, which fetch may not.');
  expect(findings).toContain(
    'packages/other has no row in `mayImport` of scripts/check-imports.ts: say what it may import.',
  );
});

test('a rule for files that are not there fails the check', () => {
  expect(findingsIn({ 'README.md': '' })).toContain('packages/core/src/token/memory.ts has a rule, but is not there.');
});
