import { readFileSync } from 'node:fs';
import { redisStore } from '@service-auth/redis';
import { createClient } from 'redis';
import { AddressError, labelOf, type OpenedStore, takeParameters } from './address.ts';
import { connectingStore } from './connecting.ts';

/** `redis://USER:PASSWORD@HOST:PORT/DATABASE?prefix=`; `rediss://` is TLS, with `ca`, `cert` and `key` as files of PEM. */
export function openRedisStore(url: URL): OpenedStore {
  const { prefix, ca, cert, key } = takeParameters(url, ['prefix', 'ca', 'cert', 'key']);
  const [unknown] = url.searchParams.keys();
  if (unknown !== undefined)
    throw new AddressError(`has an unknown parameter ${unknown}; there are prefix, ca, cert, key`);
  const database = Number(url.pathname.slice(1));
  if (!Number.isInteger(database)) throw new AddressError('must end in the number of a database, or in none');
  const isTls = url.protocol === 'rediss:';
  const named = Object.entries({ ca, cert, key }).flatMap(([name, file]) => (file ? [[name, file] as const] : []));
  if (!isTls && named.length > 0)
    throw new AddressError('has certificates, but begins with redis://; TLS is rediss://');
  const files = named.map(([name, file]) => [name, read(file)] as const);
  const socket = {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 6379),
    // Each command of this program is short: a failure is told at once, and core tries again.
    reconnectStrategy: false as const,
    connectTimeout: 2_000,
  };
  const client = createClient({
    ...(url.username && { username: decodeURIComponent(url.username) }),
    ...(url.password && { password: decodeURIComponent(url.password) }),
    database,
    socket: isTls ? { ...socket, tls: true, ...Object.fromEntries(files) } : socket,
  });
  // Each failure reaches the call that waits for it.
  client.on('error', () => {});
  const store = redisStore(client, prefix === undefined ? {} : { prefix });
  const connect = () => client.connect().catch((error: unknown) => Promise.reject(explained(error, url.host)));
  return { store: connectingStore(store, connect), label: labelOf(url) };
}

function read(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new AddressError(`names a file that cannot be read: ${file} (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** Core shows the name, the code and the advice of an error. */
function explained(error: unknown, host: string): Error {
  const { message = '', code: given } = Object(error) as { message?: string; code?: unknown };
  const code = given ?? /^(WRONGPASS|NOAUTH|NOPERM|ERR)\b/.exec(message)?.[1];
  const isRefused = code === 'WRONGPASS' || code === 'NOAUTH' || code === 'ERR';
  const advice = isRefused
    ? `${host} did not accept the user and password of SERVICE_AUTH_STORE.`
    : `is ${host} the right address, and does it listen there?`;
  return Object.assign(new Error('connection failed'), { name: 'RedisConnection', code, advice });
}
