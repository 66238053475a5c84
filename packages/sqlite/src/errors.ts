import { storeError } from '@service-auth/core/sql';

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

type Explanation = readonly [name: string, problem: string, advice: string];

const explanations: Readonly<Record<string, Explanation>> = {
  SQLITE_BUSY: [
    'LockedDatabase',
    'Another connection locks the database',
    'end its transaction; the store waits for 1.5 seconds.',
  ],
  SQLITE_READONLY: [
    'ReadOnlyDatabase',
    'The database cannot be written',
    'open it for writing, and give this process the right to write the file and its directory.',
  ],
  SQLITE_CANTOPEN: [
    'UnusableFile',
    'The file cannot be opened',
    'check its path; with a write-ahead log SQLite creates two more files in its directory.',
  ],
  SQLITE_FULL: ['FullDisk', 'The disk is full', 'free some space.'],
};
const missingTable: Explanation = [
  'MissingTable',
  'The table is missing',
  'run createTable(database), or the SQL of createTableSql().',
];
const otherTable: Explanation = [
  'OtherTable',
  'The table has other columns',
  'another program created it: name another table or another file.',
];
const missingSchema: Explanation = [
  'MissingSchema',
  'No database is attached under the name in `table`',
  'attach it to this connection, or name another one.',
];
const openTransaction: Explanation = [
  'OpenTransaction',
  'The connection is in a transaction',
  'give the store a connection of its own, on which nobody begins one.',
];

/** Errors without a code of their own. */
const messages: readonly (readonly [RegExp, Explanation])[] = [
  [/no such table/, missingTable],
  [/no such column|has no column/, otherTable],
  [/unknown database/, missingSchema],
  [/(within|inside) a transaction/, openTransaction],
];

/** True if another connection locks the database, so that the transaction can be tried again. */
export function isBusy(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'SQLITE_BUSY' || code === 'SQLITE_LOCKED';
}

/** Throws the error with advice, if there is any. */
export function explain(error: unknown): never {
  const code = codeOf(error);
  const message = String(Object(error).message);
  const [, known = explanations[isBusy(error) ? 'SQLITE_BUSY' : (code ?? '')]] =
    messages.find(([pattern]) => pattern.test(message)) ?? [];
  if (known === undefined) throw error;
  const [name, problem, advice] = known;
  throw storeError(name, code, problem, advice);
}

/** node:sqlite gives a number as `errcode`, and bun:sqlite as `errno`. Others have a name as `code`, and D1 has it in the message. */
function codeOf(error: unknown): string | undefined {
  const { errcode, errno, code, message } = Object(error) as Readonly<Record<string, unknown>>;
  const number = Number(errcode ?? errno) & 0xff;
  return codes[number] ?? /SQLITE_[A-Z]+/.exec(`${code} ${message}`)?.[0];
}
