// A server that speaks to `@libsql/client` as those of libSQL and Turso do, over a file of node:sqlite: Hrana 2 by HTTP. Arguments: file, port.
// https://github.com/tursodatabase/libsql/blob/main/docs/HRANA_3_SPEC.md
import { createServer } from 'node:http';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { json } from 'node:stream/consumers';

interface Statement {
  readonly sql?: string;
  readonly sql_id?: number;
  readonly args: readonly { readonly value?: SQLInputValue }[];
}

type Condition =
  | { readonly type: 'ok'; readonly step: number }
  | { readonly type: 'error'; readonly step: number }
  | { readonly type: 'not'; readonly cond: Condition }
  | { readonly type: 'and' | 'or'; readonly conds: readonly Condition[] };

type Request =
  | { readonly type: 'close' }
  | { readonly type: 'store_sql'; readonly sql_id: number; readonly sql: string }
  | { readonly type: 'close_sql'; readonly sql_id: number }
  | { readonly type: 'execute'; readonly stmt: Statement }
  | {
      readonly type: 'batch';
      readonly batch: { readonly steps: readonly { stmt: Statement; condition?: Condition }[] };
    };

const [file = '', port] = process.argv.slice(2);
const database = new DatabaseSync(file);
database.exec('pragma journal_mode = wal; pragma synchronous = full');

function execute({ sql, sql_id, args }: Statement, texts: ReadonlyMap<number, string>): object {
  const statement = database.prepare(sql ?? texts.get(Number(sql_id)) ?? '');
  statement.setReadBigInts(true);
  statement.setReturnArrays(true);
  const rows = statement.all(...args.map(({ value = null }) => value)) as unknown as unknown[][];
  return {
    cols: statement.columns().map(({ name, type }) => ({ name, decltype: type })),
    rows: rows.map((row) => row.map(encoded)),
    affected_row_count: 0,
    last_insert_rowid: null,
  };
}

function encoded(value: unknown): object {
  if (value === null) return { type: 'null' };
  return typeof value === 'bigint' ? { type: 'integer', value: `${value}` } : { type: 'text', value };
}

function errorOf(error: unknown): object {
  const { message, errcode = 0 } = error as Error & { errcode?: number };
  const code = { 5: 'SQLITE_BUSY', 8: 'SQLITE_READONLY', 13: 'SQLITE_FULL' }[errcode & 0xff] ?? 'SQLITE_UNKNOWN';
  return { message: `SQLite error: ${message}`, code };
}

function holds(condition: Condition | undefined, results: readonly unknown[], errors: readonly unknown[]): boolean {
  if (!condition) return true;
  if (condition.type === 'ok') return Boolean(results[condition.step]);
  if (condition.type === 'error') return Boolean(errors[condition.step]);
  if (condition.type === 'not') return !holds(condition.cond, results, errors);
  const found = condition.conds.map((each) => holds(each, results, errors));
  return condition.type === 'and' ? found.every(Boolean) : found.some(Boolean);
}

function answer(request: Request, texts: Map<number, string>): object {
  if (request.type === 'store_sql') texts.set(request.sql_id, request.sql);
  if (request.type === 'execute') return { type: request.type, result: execute(request.stmt, texts) };
  if (request.type !== 'batch') return { type: request.type };
  const results: (object | null)[] = [];
  const errors: (object | null)[] = [];
  for (const { stmt, condition } of request.batch.steps) {
    let result: object | null = null;
    let error: object | null = null;
    try {
      if (holds(condition, results, errors)) result = execute(stmt, texts);
    } catch (reason) {
      error = errorOf(reason);
    }
    results.push(result);
    errors.push(error);
  }
  return { type: request.type, result: { step_results: results, step_errors: errors } };
}

const server = createServer(async (request, response) => {
  if (request.url !== '/v2/pipeline') {
    response.writeHead(404).end();
    return;
  }
  const { requests } = (await json(request)) as { requests: readonly Request[] };
  const texts = new Map<number, string>();
  const results = requests.map((each) => {
    try {
      return { type: 'ok', response: answer(each, texts) };
    } catch (error) {
      return { type: 'error', error: errorOf(error) };
    }
  });
  // A stream that ends takes its transaction back.
  if (database.isTransaction) database.exec('rollback');
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ baton: null, base_url: null, results }));
});
server.listen(Number(port), '127.0.0.1', () => console.log('ready'));
