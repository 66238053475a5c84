import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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

/**
 * Compiles modules that a page shows. `sources` has the text of each module by its file name, and `programs` names those that are run.
 * Returns a folder beside the packages of the examples, which has each program as one file that ends in `.mjs`.
 */
export async function compilePage(
  name: string,
  sources: ReadonlyMap<string, string>,
  programs: readonly string[],
): Promise<string> {
  const examples = fileURLToPath(new URL('../..', import.meta.url));
  // Node runs no TypeScript in node_modules, so the modules are bundled.
  const folder = join(examples, 'node_modules/.cache', name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [file, code] of sources) writeFileSync(join(folder, file), code);
  const compilerOptions = {
    module: 'ESNext',
    moduleResolution: 'bundler',
    target: 'ES2023',
    lib: ['ES2023', 'ESNext.Disposable', 'DOM'],
    types: ['node'],
    typeRoots: [join(examples, '../node_modules/@types')],
    strict: true,
    experimentalDecorators: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    noEmit: true,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [...sources.keys()] }));
  const entryPoints = programs.map((file) => join(folder, file));
  await compile(folder, entryPoints, folder);
  return folder;
}
