import { explain, type Reason } from '@service-auth/core/store';

/** The codes of SQLite, by their numbers. The upper bytes of an extended code are the details. */
const codes: Readonly<Record<number, string>> = {
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  8: 'SQLITE_READONLY',
  10: 'SQLITE_IOERR',
  11: 'SQLITE_CORRUPT',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
  26: 'SQLITE_NOTADB',
};

/** The errors of SQLite alone. Some of them have no code of their own. */
const reasons: readonly Reason[] = [
  ['MissingTable', 'run createTable(), or the SQL of createTableSql().', '', /no such table/],
  [
    'OtherTable',
    'another program created the table: name another table or another file.',
    '',
    /no such column|has no column/,
  ],
  ['MissingSchema', 'attach the database in `table` to this connection, or name another one.', '', /unknown database/],
  [
    'OpenTransaction',
    'the connection is in a transaction. Give the store a connection of its own, on which no transaction is begun.',
    '',
    /(within|inside) a transaction/,
  ],
  [
    'LockedDatabase',
    'another connection locks the database: end its transaction; the store waits for 1.5 seconds.',
    'SQLITE_BUSY SQLITE_LOCKED',
  ],
  [
    'ReadOnlyDatabase',
    'open the database for writing, and give this process the right to write the file and its directory.',
    'SQLITE_READONLY',
  ],
  [
    'UnusableFile',
    'check the path of the file; with a write-ahead log SQLite creates two more files in its directory.',
    'SQLITE_CANTOPEN',
  ],
  ['FailedDisk', 'the disk or the file system failed, or it is full. See the log of the system.', 'SQLITE_IOERR'],
  ['DamagedFile', 'the file is damaged, or no database. Restore a copy.', 'SQLITE_CORRUPT SQLITE_NOTADB'],
  [
    'WrongPassword',
    'the server did not accept the authToken of the client, or it has expired.',
    '',
    /HTTP status 40[13]/,
  ],
  ['MissingDatabase', 'the server has no such database. Check the url of the client.', '', /HTTP status 404/],
  ['FailedServer', 'the server of libSQL failed, or what is before it. See its state.', '', /HTTP status 5/],
  ['ClosedClient', 'the database was closed: close it after auth.close().', '', /is not open|has closed|CLIENT_CLOSED/],
];

/** True if another connection locks the database, so that the transaction can be tried again. */
export function isBusy(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'SQLITE_BUSY' || code === 'SQLITE_LOCKED';
}

/** Throws the error with advice, if there is any. */
export function explainSqlite(error: unknown, signal: AbortSignal | undefined): never {
  explain(error, signal, reasons, codeOf(error));
}

/**
 * node:sqlite gives a number as `errcode`, and bun:sqlite as `errno`. Others have a name as `code`,
 * and D1 has it in the message.
 */
function codeOf(error: unknown): string | undefined {
  const { errcode, errno, code, message } = Object(error) as Readonly<Record<string, unknown>>;
  const number = Number(errcode ?? errno) & 0xff;
  return codes[number] ?? /SQLITE_[A-Z]+/.exec(`${code} ${message}`)?.[0];
}
