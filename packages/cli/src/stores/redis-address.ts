import { AddressError, filesOf, parametersOf, urlOf } from './address.ts';

export interface Host {
  readonly host: string;
  readonly port: number;
}

export interface RedisAddress {
  /** One server, several nodes of a cluster or, with `sentinel`, Sentinels. */
  readonly hosts: readonly Host[];
  /** The hosts as people may see them. */
  readonly hostNames: string;
  readonly label: string;
  /** The address with this parameter. Undefined: it has something secret. */
  readonly withParameter: (parameter: string) => string | undefined;
  readonly credentials: { readonly username?: string; readonly password?: string };
  readonly database: number;
  readonly prefix: string | undefined;
  /** The name under which the Sentinels know the primary server. */
  readonly sentinel: string | undefined;
  readonly socket: Socket;
}

type Socket =
  | typeof plain
  | (typeof plain & ReturnType<typeof filesOf<'ca' | 'cert' | 'key'>> & { readonly tls: true });

/** A failure is told at once: each command is short, and core tries again. */
const plain = { reconnectStrategy: false, connectTimeout: 2_000 } as const;

const names = ['prefix', 'sentinel', 'ca', 'cert', 'key'] as const;

/**
 * Reads `redis://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?prefix=&sentinel=`; `rediss://` is TLS,
 * with `ca`, `cert` and `key` as files of PEM.
 * @throws AddressError
 */
export function parseRedisAddress(address: string): RedisAddress {
  const {
    before = '',
    list = '',
    after = '',
  } = /^(?<before>rediss?:\/\/([^/?#]*@)?)(?<list>[^/?#@]*)(?<after>.*)$/is.exec(address)?.groups ?? {};
  const [first = '', ...others] = list.split(',');
  const url = urlOf(before + first + after);
  const { prefix, sentinel, ca, cert, key } = parametersOf(url.search, names);
  const database = Number(url.pathname.slice(1));
  if (!Number.isInteger(database)) throw new AddressError('must end in the number of a database, or in none');
  if (others.length > 0 && sentinel === undefined && database !== 0) {
    throw new AddressError('has several hosts, so it is a cluster, which has only the database 0');
  }
  const isTls = url.protocol === 'rediss:';
  const hasFiles = Boolean(ca || cert || key);
  if (!isTls && hasFiles) throw new AddressError('has certificates, but begins with redis://; TLS is rediss://');
  const hosts = [url, ...others.map((host) => urlOf(`redis://${host}`))];
  const hostNames = hosts.map(({ host }) => host).join(',');
  const place = `${url.protocol}//${hostNames}${database === 0 ? '' : `/${database}`}`;
  const details = [
    ...(sentinel === undefined ? [] : [`sentinel ${sentinel}`]),
    ...(prefix === undefined ? [] : [`prefix ${prefix}`]),
  ];
  const isHidden = url.username !== '' || url.password !== '' || hasFiles;
  const sentinelParameter = sentinel === undefined ? '' : `sentinel=${encodeURIComponent(sentinel)}&`;
  const usualPort = sentinel === undefined ? 6_379 : 26_379;
  return {
    hosts: hosts.map(({ hostname, port }) => ({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port || usualPort),
    })),
    hostNames,
    label: details.length === 0 ? place : `${place} (${details.join(', ')})`,
    withParameter: (parameter) => (isHidden ? undefined : `${place}?${sentinelParameter}${parameter}`),
    credentials: {
      ...(url.username && { username: decodeURIComponent(url.username) }),
      ...(url.password && { password: decodeURIComponent(url.password) }),
    },
    database,
    prefix,
    sentinel,
    socket: isTls ? { ...plain, ...filesOf({ ca, cert, key }), tls: true } : plain,
  };
}
