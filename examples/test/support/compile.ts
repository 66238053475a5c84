import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { expect } from 'vitest';

const run = promisify(execFile);
const tsc = fileURLToPath(new URL('../../../node_modules/typescript-7/bin/tsc', import.meta.url));

/** Checks the types of a project, then writes its programs to a directory, each in one file that ends in `.mjs`. */
export async function compile(project: string, entryPoints: string[], outdir: string): Promise<void> {
  const argv = [tsc, '--project', project, '--pretty', 'false', '--customConditions', '@service-auth/source'];
  await run(process.execPath, argv).catch(({ stdout }) => expect.fail(stdout));
  await build({
    entryPoints,
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node22',
  });
}
