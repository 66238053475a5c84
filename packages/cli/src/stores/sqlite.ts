import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { createTable, sqliteStore } from '@service-auth/sqlite';
import { AddressError, type OpenedStore, type OpenOptions, parametersOf, wrongTable } from './address.ts';
import { explainingStore } from './explaining.ts';
import { pathIn } from './file.ts';

/**
 * `sqlite:FILE`, `sqlite:///FILE`, with `?table=` as an option. `~/` is the home directory. A
 * command that only reads creates no file.
 * @throws AddressError
 */
export async function openSqliteStore(address: string, { writes }: OpenOptions): Promise<OpenedStore> {
  const [place = '', query = ''] = address.split('?', 2);
  const file = pathIn(place, 'sqlite:FILE, or sqlite:///FILE with three slashes');
  if (file === '') throw new AddressError('must name a file: sqlite:FILE');
  const { table } = parametersOf(query, ['table']);
  if (!writes && !existsSync(file)) throw new AddressError(`names a file that does not exist: ${file}`);
  const options = table === undefined ? {} : { table };
  const database = await open(file);
  try {
    const { name = '', ...opened } = sqliteStore(database, options);
    const create = writes ? () => createTable(database, options) : undefined;
    const store = explainingStore({ ...opened, name }, create);
    const remove = async (key: string) =>
      database.prepare(`delete from ${name.replace('table ', '')} where "key" = ?`).run(key);
    return {
      store,
      label: `sqlite:${file}${table === undefined ? '' : ` (table ${table})`}`,
      trial: (key) => ({ store, remove: () => remove(key) }),
    };
  } catch {
    throw wrongTable('schema');
  }
}

/** @throws AddressError */
async function open(file: string): Promise<DatabaseSync> {
  const sqlite = await quietly(() => import('node:sqlite')).catch(() => {
    throw new AddressError('needs node:sqlite, which Node has from version 22.13 on');
  });
  try {
    return new sqlite.DatabaseSync(file);
  } catch (error) {
    throw new AddressError(`names a file that cannot be opened: ${file} (${Object(error).code})`);
  }
}

/** Node 22 warns that the module is experimental, on standard error. */
async function quietly<Result>(load: () => Promise<Result>): Promise<Result> {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return await load();
  } finally {
    process.emitWarning = emitWarning;
  }
}
