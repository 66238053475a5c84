// The file is validated, and its step runs with other commands in place of apk and npm. No image is built.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DockerfileParser } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';
import { expect, test } from 'vitest';
import { emptyFolder } from './support/program.ts';

const text = readFileSync(new URL('../../../examples/pipelines/Dockerfile', import.meta.url), 'utf8');
const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const instructions = DockerfileParser.parse(text).getInstructions();

/** The arguments of the only instruction of this name. */
function only(keyword: string): string {
  const [instruction, ...others] = instructions.filter((found) => found.getKeyword() === keyword);
  expect(others).toEqual([]);
  return instruction?.getArgumentsContent() ?? '';
}

test('the Dockerfile is valid, and validation finds mistakes', () => {
  expect(validate(text)).toEqual([]);
  expect(validate(text.replace('USER node', 'USR node'))).not.toEqual([]);
});

test('the image runs the program of this package, as a user without rights, on a Node that it supports', () => {
  expect(Object.keys(manifest.bin)).toContain(JSON.parse(only('ENTRYPOINT'))[0]);
  expect(only('USER')).toBe('node');
  const [, major] = /^node:(\d+)-/.exec(only('FROM')) ?? [];
  const [, oldest] = /^>=(\d+)$/.exec(manifest.engines.node) ?? [];
  expect(Number(major)).toBeGreaterThanOrEqual(Number(oldest));
  // Everybody who has the image can read its variables.
  for (const instruction of instructions) expect(instruction.getKeyword()).not.toBe('ENV');
});

test('its step installs curl and the published program, and stops at the first command that fails', () => {
  const folder = emptyFolder();
  const calls = join(folder, 'calls');
  mkdirSync(join(folder, 'bin'));
  const commands = { apk: 0, npm: 0 };
  const write = (name: string, code: number) => {
    const file = join(folder, 'bin', name);
    writeFileSync(file, `#!/bin/sh\necho ${name} "$@" >> '${calls}'\nexit ${code}\n`);
    chmodSync(file, 0o755);
  };
  for (const [name, code] of Object.entries(commands)) write(name, code);
  const env = { PATH: `${join(folder, 'bin')}:/usr/bin:/bin`, VERSION: '1.2.3' };
  const run = () => execFileSync('sh', ['-c', only('RUN').replace(/\\\r?\n/g, ' ')], { env, stdio: 'pipe' });
  run();
  const lines = readFileSync(calls, 'utf8').split('\n');
  expect(lines[0]).toMatch(/^apk add .*\bcurl$/);
  expect(lines[1]).toMatch(new RegExp(`^npm install --global .*${manifest.name}@1\\.2\\.3$`));
  write('apk', 1);
  expect(run).toThrow();
  expect(readFileSync(calls, 'utf8').split('\n')).toHaveLength(lines.length + 1);
});
