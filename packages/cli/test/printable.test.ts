// The record has a checksum and no signature: whoever can write to the store chooses the names in it.
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { emptyFolder, manyProcesses, run } from './support/program.ts';
import { startCanaryService, variablesOf } from './support/world.ts';

const file = () => `file:${join(emptyFolder(), 'store')}`;
/** It names the window, erases the screen in two ways, turns the direction of writing, and begins lines. */
const hostile = '\u001B]0;OWNED\u0007\u001B[2J\u009B2J\u202E\nforged\u2028forged\u007F';

/** The same record with these words in place of others. */
function rewritten(record: string, words: Readonly<Record<string, string>>): string {
  const [version, , ...rest] = record.trimEnd().split(' ');
  const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
  const json = Object.entries(words).reduce(
    (text, [before, after]) => text.replaceAll(inJson(before), inJson(after)),
    rest.join(' '),
  );
  const checksum = crc32(Buffer.from(json, 'utf16le')).toString(16).padStart(8, '0');
  return `${version} ${checksum} ${json}`;
}

/** A store whose instances, audiences and reasons were written by somebody hostile. It has a token, a reset and a hold. */
async function hostileWorld() {
  const service = await startCanaryService();
  const env = { ...variablesOf(service, file()), SERVICE_AUTH_INSTANCE: 'job-1' };
  await run(['token', '--audience', 'https://other.example/'], { env });
  await run(['token'], { env });
  await run(['reset', '--yes', '--reason', 'in a log'], { env });
  service.tokenEndpoint.always({ status: 401 });
  await run(['token'], { env });
  const { stdout } = await run(['record', 'export'], { env });
  const words = { 'job-1': `job-1${hostile}`, '.example/': `.example/${hostile}`, 'in a log': `in a log${hostile}` };
  const changed = { ...env, SERVICE_AUTH_STORE: file() };
  const imported = await run(['record', 'import', '-'], { env: changed, input: rewritten(stdout, words) });
  expect(imported).toMatchObject({ code: 0, stderr: '' });
  return changed;
}

test(
  'no command prints control characters of a record, and those that show a name show them as escapes',
  manyProcesses,
  async () => {
    const env = await hostileWorld();
    const commands = [
      { args: ['usage'], showsNames: true },
      { args: ['usage', '--json'], showsNames: true },
      { args: ['retry'], showsNames: true },
      { args: ['reset', '--yes'], showsNames: true },
      { args: ['explain'], showsNames: false },
      { args: ['check'], showsNames: false },
      { args: ['doctor'], showsNames: false },
      { args: ['doctor', '--json'], showsNames: false },
      { args: ['retry', '--yes'], showsNames: true },
    ];
    for (const { args, showsNames } of commands) {
      const { stdout, stderr } = await run(args, { env: { ...env, COLUMNS: '120' } });
      const lines = (stdout + stderr).split('\n');
      const name = args.join(' ');
      expect({ name, lines: lines.filter((line) => /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(line)) }).toEqual({
        name,
        lines: [],
      });
      expect({ name, lines: lines.filter((line) => line.startsWith('forged')) }).toEqual({ name, lines: [] });
      if (showsNames) expect(lines.join('').replaceAll(' ', ''), name).toContain('\\u001b');
    }
  },
);

test('the JSON of usage has the names as they are in the record', manyProcesses, async () => {
  const { stdout } = await run(['usage', '--json'], { env: await hostileWorld() });
  const { issuances, resets } = JSON.parse(stdout);
  expect(issuances[0].instance).toBe(`job-1${hostile}`);
  expect(resets[0].reason).toBe(`in a log${hostile}`);
});
