import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../tests/support/tools/end-with-this-process.ts';

const biome = fileURLToPath(new URL('../../node_modules/@biomejs/biome/bin/biome', import.meta.url));
const config = fileURLToPath(new URL('../../biome.json', import.meta.url));

/** Returns the findings of our own rules in a test file with these lines. For some of its rules, the linter would first read the whole repository. */
function lint(...lines: string[]): string {
  const folder = temporaryFolder(join(tmpdir(), 'service-auth-lint-'));
  writeFileSync(join(folder, 'linted.test.ts'), `import { expect } from 'vitest';\n${lines.join('\n')}\n`);
  const options = ['--only=plugin', `--config-path=${config}`, '--vcs-enabled=false', '--colors=off'];
  const { stdout, stderr } = spawnSync(process.execPath, [biome, 'lint', ...options, 'linted.test.ts'], {
    cwd: folder,
    encoding: 'utf8',
  });
  return stdout + stderr;
}

test('a regular expression among the properties that toMatchObject compares is reported', () => {
  const found = lint(
    "expect(error).toMatchObject({ code: 'EPERM', message: /chmod/ });",
    'expect(error).toEqual(expect.objectContaining({ a: { message: /chmod/ } }));',
    'expect(error).toMatchObject({ message: expect.stringMatching(/chmod/) });',
  );
  const places = [...found.matchAll(/linted\.test\.ts:(\d+):\d+ plugin/g)].map(([, line]) => line);
  expect(places).toEqual(['2', '3']);
});
