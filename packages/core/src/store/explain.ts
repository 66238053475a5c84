import { storeError } from './store-error.ts';

/**
 * The description of an error: the name that `ERR_STORE` shows, the advice, the codes of the error
 * with a space between each two, and its message if drivers give it no code.
 */
export type Reason = readonly [name: string, advice: string, codes: string, message?: RegExp];

/**
 * The errors that more than one store has: SQLSTATEs of PostgreSQL, numbers of MySQL and MariaDB,
 * replies of Redis, codes of Node.js, messages of drivers.
 */
const reasons: readonly Reason[] = [
  ['MissingTable', 'run createTable(), or the SQL of createTableSql().', '42P01 42883 3F000 1049 1146 1305'],
  ['MissingDatabase', 'name a database that the server has in the address of the client.', '3D000'],
  [
    'MissingRights',
    'the user needs select, insert and update on the table, usage of its schema, and execute on its functions or procedures.',
    '42501 1044 1142 1143 1370',
  ],
  [
    'WrongPassword',
    'the server did not accept the user or the password of the client.',
    '28P01 28000 1045 1698 WRONGPASS NOAUTH',
    /^SASL: .* password must be /,
  ],
  [
    'ReadOnlyServer',
    'connect to the primary server; this one is a replica, or it was set to read_only.',
    '25006 1290 1792 1836 READONLY',
  ],
  [
    'TooManyConnections',
    'the server has no connection left. Make the pools smaller, put a pooler before the server, or raise its limit.',
    '53300 1040 1203 1226',
    /^(ERR )?max number of clients reached|max concurrent connections exceeded/,
  ],
  [
    'ExhaustedPool',
    'no connection of the pool became free or opened in time. Look for code that keeps connections, and whether the server accepts new ones.',
    '45028',
    /^timeout exceeded when trying to connect|^Connection terminated due to connection timeout|^Queue limit reached|^No connections available/,
  ],
  [
    'SlowAnswer',
    'the server did not answer within the time-out of the client or of its own. Look at its load, and for locks and the time-out.',
    '57014 1969 3024 45026 PROTOCOL_SEQUENCE_TIMEOUT',
    /^Query read timeout|^Command timed out|^Socket timeout/,
  ],
  [
    'LockedTable',
    'see in pg_locks, or in SHOW FULL PROCESSLIST, who holds a lock on the table or its row.',
    '55P03 1205',
  ],
  [
    'OpenTransaction',
    'the connection is in a transaction. Give the store a connection of its own, or a pool on which no transaction is begun.',
    '25001 25P02 1568 QUEUED',
  ],
  [
    'FullDisk',
    'the disk of the database is full, or the share of it that it may use. Free some space.',
    '53100 1021 1114 ENOSPC EDQUOT SQLITE_FULL',
  ],
  [
    'StartingServer',
    'the server is starting, or it is shutting down. It can be used again when it has started.',
    '57P01 57P02 57P03 1053 LOADING',
  ],
  [
    'ClosedClient',
    'the client was closed, or it was never connected: await its connect(), and close it after auth.close().',
    '45001 45004 45013 45027 45035 45037',
    /^The client is closed|^Connection is closed|^Cannot use a pool after calling end|^Pool is closed|^Client was closed|^Can't add new command when connection is in closed state/,
  ],
  [
    'NotConnected',
    'the client has no connection at this moment, and it does not queue commands. It connects again by itself, or it needs an offline queue.',
    '',
    /and enableOfflineQueue options is false$|^The client is offline/,
  ],
  [
    'LostConnection',
    'the connection broke before the answer came. Look at the log of the server, and of what is between.',
    'ECONNRESET EPIPE PROTOCOL_CONNECTION_LOST 08006 45009',
    /^Connection terminated|^Socket closed unexpectedly/,
  ],
  [
    'PoolerWithoutServer',
    'PgBouncer got no connection to the database. See its log, its list of databases, and whether the database accepts connections.',
    '08P01',
  ],
  [
    'Unreachable',
    'nothing answers at the address of the client. Check its host, its port and the network.',
    'ECONNREFUSED ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH ETIMEDOUT 45012 MaxRetriesPerRequestError',
    /^Connection timeout$|^All the root nodes are unavailable|^None of startup nodes is available/,
  ],
];

/**
 * Throws the error of a driver with a name and advice. `own`: the errors of this store alone, which
 * come first. `code`: the code, if the error has it elsewhere. An error that is in no table is
 * thrown unchanged, and so is the reason of an aborted `signal`. The message of the error is not
 * shown, because it may contain a password.
 */
export function explain(
  error: unknown,
  signal: AbortSignal | undefined,
  own: readonly Reason[] = [],
  code: unknown = codeOf(error),
): never {
  if (signal?.aborted) throw error;
  const { errno, name, message } = fieldsOf(error);
  const table = [...own, ...reasons];
  const said = [code, errno, name].map(String);
  const known =
    table.find(([, , codes]) => codes.split(' ').some((each) => each !== '' && said.includes(each))) ??
    table.find(([, , , pattern]) => pattern?.test(String(message)));
  throw known ? storeError(known[0], code, known[1]) : error;
}

/** Returns the code of an error or, as with `fetch`, of its cause. */
function codeOf(error: unknown): unknown {
  const { code, cause } = fieldsOf(error);
  return code ?? fieldsOf(cause)['code'];
}

function fieldsOf(error: unknown): Readonly<Record<string, unknown>> {
  return Object(error) as Readonly<Record<string, unknown>>;
}
