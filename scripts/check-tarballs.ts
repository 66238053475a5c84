// Runs publint and Are The Types Wrong on every package as it would be published.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { packAll } from './pack.ts';
import { readPackages, root } from './packages.ts';

const run = promisify(execFile);
const packages = readPackages();
const tarballs = packAll(packages);
let failed = false;

await Promise.all(
  packages.map(async ({ manifest, hasCommonJs, specifiers }) => {
    const tarball = tarballs.get(manifest.name) ?? '';
    await check('publint', ['run', tarball, '--strict']);
    // A program has no types.
    if (specifiers.length === 0) return;
    await check('attw', [tarball, '--no-emoji', '--profile', hasCommonJs ? 'strict' : 'esm-only']);
  }),
);
if (failed) process.exit(1);
console.log(`${packages.length} tarballs are sound.`);

async function check(command: string, argv: string[]): Promise<void> {
  try {
    await run(command, argv, { cwd: root });
  } catch (error) {
    failed = true;
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    console.error(`${command} ${argv.join(' ')}\n${stdout}${stderr}`);
  }
}
