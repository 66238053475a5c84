import { readFileSync } from 'node:fs';
import { redisStore } from '@service-auth/redis';
import { createClient } from 'redis';
import { AddressError, type Diagnosis, labelOf, type OpenedStore, takeParameters } from './address.ts';
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
  const place = prefix ?? 'service-auth:';
  const disconnect = () => {
    if (client.isOpen) client.destroy();
  };
  const connected = connectingStore(store, { connect, isAlive: () => client.isReady, disconnect });
  return {
    store: connected,
    label: `${labelOf(url)}${prefix === undefined ? '' : ` (prefix ${prefix})`}`,
    trial: (key) => ({ store: connected, remove: () => client.del(place + key) }),
    examine: async (key) => [await replicas(client), await otherPrefixes(client, key, place)],
  };
}

/** The methods of the client that are used besides scripts. */
interface Client {
  sendCommand(command: string[]): Promise<unknown>;
}

async function replicas(client: Client): Promise<Diagnosis> {
  const info = String(await client.sendCommand(['INFO', 'replication']));
  const [, role] = /role:(\w+)/.exec(info) ?? [];
  const [, count = '0'] = /connected_slaves:(\d+)/.exec(info) ?? [];
  if (role === 'slave') {
    return {
      state: 'failure',
      message: 'this server is a replica, which takes no writes',
      advice: 'name the primary server.',
    };
  }
  const message = `it has ${count} ${count === '1' ? 'replica' : 'replicas'}; half of the limit is kept back, because a failover may lose the newest writes`;
  return { state: 'ok', message };
}

const maxScans = 200;

/** Two prefixes are two records, and so two budgets. */
async function otherPrefixes(client: Client, key: string, prefix: string): Promise<Diagnosis> {
  const found = new Set<string>();
  let cursor = '0';
  for (let scans = 0; scans < maxScans; scans += 1) {
    const part = (await client.sendCommand(['SCAN', cursor, 'MATCH', `*${key}`, 'COUNT', '1000'])) as [
      string,
      string[],
    ];
    for (const name of part[1]) found.add(String(name).slice(0, -key.length));
    cursor = String(part[0]);
    if (cursor === '0') break;
  }
  found.delete(prefix);
  if (found.size > 0) {
    return {
      state: 'warning',
      message: `there are records of this client under other prefixes, too: ${[...found].map((name) => JSON.stringify(name)).join(', ')}`,
      advice: 'two records are two budgets; give all programs the same prefix.',
    };
  }
  const whole = cursor === '0' ? '' : ` among the first ${maxScans * 1_000} keys`;
  return { state: 'ok', message: `no other prefix has a record of this client${whole}` };
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
