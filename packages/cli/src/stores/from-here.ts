import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { AddressError, nameOf } from './address.ts';

/**
 * Imports a package. It is looked for from the working directory, because this program is often run
 * by npx from elsewhere.
 * @throws AddressError
 */
export async function importFromHere(name: string): Promise<unknown> {
  const address = await addressOf(name);
  return told(`names the package ${name}, which cannot be loaded`, () => import(address));
}

async function addressOf(name: string): Promise<string> {
  const require = createRequire(pathToFileURL(join(process.cwd(), 'package.json')));
  try {
    return pathToFileURL(require.resolve(name)).href;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_PACKAGE_PATH_NOT_EXPORTED') {
      throw new AddressError(
        `needs the package ${name}, which is not installed here. Run: npm install ${name}, or write file:DIRECTORY, redis://HOST or the like`,
      );
    }
    // It is for import alone. Node resolves that from the working directory only in a program that
    // begins there.
    const program = 'process.stdout.write(import.meta.resolve(process.argv[1]))';
    const args = ['--input-type=module', '--eval', program, name];
    // No other store waits for this module.
    const { execFile } = await import('node:child_process');
    const resolve = () => promisify(execFile)(process.execPath, args);
    return (await told(`names the package ${name}, which exports nothing`, resolve)).stdout;
  }
}

/** The error of a package as that of its address. */
export async function told<Result>(problem: string, call: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    throw new AddressError(`${problem} (${nameOf(error)})`);
  }
}
