import { createRequire, isBuiltin } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { AddressError, type OpenedStore, type OpenOptions, type OpenStore, urlOf } from './address.ts';

const packageName = /^(?<name>(@[a-z\d][\w.-]*\/)?[a-z\d][\w.-]*)(\?(?<parameters>.*))?$/;

/**
 * Opens the store at an address. Only the driver of that store is loaded.
 * @throws AddressError, whose message completes a sentence that begins with the name of the setting
 */
export async function openStore(address: string, options: OpenOptions): Promise<OpenedStore> {
  const scheme = /^[a-z][a-z\d+.-]*:/i.exec(address)?.[0].toLowerCase();
  switch (scheme) {
    case 'file:':
      return (await import('./file.ts')).openFileStore(address);
    case 'redis:':
    case 'rediss:':
      return (await import('./redis.ts')).openRedisStore(address);
    case 'postgres:':
    case 'postgresql:':
      return (await import('./postgres.ts')).openPostgresStore(urlOf(address), options);
  }
  const { name, parameters } = packageName.exec(address)?.groups ?? {};
  if (name === undefined || scheme !== undefined) {
    throw new AddressError(
      'must begin with file:, redis://, rediss:// or postgres://, or be the name of a package with a store',
    );
  }
  return openPackage(name, new URLSearchParams(parameters), options);
}

/** Looks for the package from the working directory, because this program is often run by npx from elsewhere. */
async function openPackage(name: string, parameters: URLSearchParams, options: OpenOptions): Promise<OpenedStore> {
  if (isBuiltin(name)) throw new AddressError(`names the module ${name} of Node, which has no store`);
  const address = await addressOf(name);
  const { openStore } = await told(
    `names the package ${name}, which cannot be loaded`,
    () => import(address) as Promise<{ openStore?: OpenStore }>,
  );
  if (typeof openStore !== 'function') {
    throw new AddressError(`names the package ${name}, which exports no function openStore`);
  }
  return told(`names the package ${name}, whose openStore failed`, () => openStore(parameters, options));
}

/** The address of the module that the package exports. */
async function addressOf(name: string): Promise<string> {
  const require = createRequire(pathToFileURL(join(process.cwd(), 'package.json')));
  try {
    return pathToFileURL(require.resolve(name)).href;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_PACKAGE_PATH_NOT_EXPORTED') {
      throw new AddressError(`needs the package ${name}, which is not installed here. Run: npm install ${name}`);
    }
    // It is for import alone. Node resolves that from the working directory only in a program that begins there.
    const program = 'process.stdout.write(import.meta.resolve(process.argv[1]))';
    const args = ['--input-type=module', '--eval', program, name];
    // No other store waits for this module.
    const { execFile } = await import('node:child_process');
    const resolve = () => promisify(execFile)(process.execPath, args);
    return (await told(`names the package ${name}, which exports nothing`, resolve)).stdout;
  }
}

/** The error of a package as that of its address. Its message may contain anything, even a password, so it is left out. */
async function told<Result>(problem: string, call: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    const { name, code } = Object(error) as { name?: unknown; code?: unknown };
    throw new AddressError(`${problem} (${[name, code].filter(Boolean).join(' ')})`);
  }
}
