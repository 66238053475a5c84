import { isBuiltin } from 'node:module';
import { AddressError, type OpenedStore, type OpenOptions, type OpenStore, urlOf } from './address.ts';
import { importFromHere, told } from './from-here.ts';

const packageName = /^(?<name>(@[a-z\d][\w.-]*\/)?[a-z\d][\w.-]*)(\?(?<parameters>.*))?$/;

const cloudflarePage = 'https://github.com/service-auth/service-auth/blob/main/packages/cloudflare/README.md#on-call';
const durableObject = `names a Durable Object, which only a Worker can read: give the Worker a route, and import its record, see ${cloudflarePage}`;
const d1 =
  'names D1, which only a Worker can read: `wrangler d1 export NAME --remote --output record.sql`, then `sqlite3 record.db < record.sql`, and the address sqlite:record.db';

/**
 * Opens the store at an address. Only the driver of that store is loaded.
 * @throws AddressError, whose message completes a sentence that begins with the name of the setting
 */
export async function openStore(address: string, options: OpenOptions): Promise<OpenedStore> {
  const scheme = /^[a-z][a-z\d+.-]*:/i.exec(address)?.[0].toLowerCase();
  switch (scheme) {
    case 'file:':
      return (await import('./file.ts')).openFileStore(address, options);
    case 'redis:':
    case 'rediss:':
      return (await import('./redis.ts')).openRedisStore(address);
    case 'postgres:':
    case 'postgresql:':
      return (await import('./postgres.ts')).openPostgresStore(urlOf(address), options);
    case 'mysql:':
    case 'mariadb:':
      return (await import('./mysql.ts')).openMysqlStore(urlOf(address), options);
    case 'sqlite:':
      return (await import('./sqlite.ts')).openSqliteStore(address, options);
    case 'dynamodb:':
      return (await import('./dynamodb.ts')).openDynamoDbStore(address);
    case 'durable-object:':
    case 'cloudflare:':
      throw new AddressError(durableObject);
    case 'd1:':
      throw new AddressError(d1);
  }
  const { name, parameters } = packageName.exec(address)?.groups ?? {};
  if (name === undefined || scheme !== undefined) {
    throw new AddressError(
      'must begin with file:, redis://, rediss://, postgres://, mysql://, sqlite: or dynamodb:, or be the name of a package with a store',
    );
  }
  return openPackage(name, new URLSearchParams(parameters), options);
}

async function openPackage(name: string, parameters: URLSearchParams, options: OpenOptions): Promise<OpenedStore> {
  if (name === '@service-auth/cloudflare') throw new AddressError(durableObject);
  if (isBuiltin(name)) throw new AddressError(`names the module ${name} of Node, which has no store`);
  const { openStore } = (await importFromHere(name)) as { openStore?: OpenStore };
  if (typeof openStore !== 'function') {
    throw new AddressError(`names the package ${name}, which exports no function openStore`);
  }
  return told(`names the package ${name}, whose openStore failed`, () => openStore(parameters, options));
}
