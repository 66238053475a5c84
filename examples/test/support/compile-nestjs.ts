import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished } from 'vitest';

const run = promisify(execFile);
const tsc = fileURLToPath(new URL('../../../node_modules/typescript-7/bin/tsc', import.meta.url));

/**
 * Compiles an application of Nest for one test, and returns the folder of the result. The types are checked against the sources of the packages, but
 * the build does not include them.
 */
export async function compileNestjs(name: string): Promise<string> {
  const folder = fileURLToPath(new URL(`../../${name}`, import.meta.url));
  const outDir = `${folder}/dist`;
  const argv = [tsc, '--project', folder, '--pretty', 'false'];
  const checked = run(process.execPath, [...argv, '--noEmit', '--customConditions', '@service-auth/source']);
  await checked.catch(({ stdout }) => expect.fail(stdout));
  await run(process.execPath, [...argv, '--noCheck', '--noResolve', '--outDir', outDir]);
  onTestFinished(() => rm(outDir, { recursive: true }));
  return outDir;
}
