import type { DatabaseSync } from 'node:sqlite';
import type { Store } from '@service-auth/core';

/** Keeps records in a SQLite database, for the processes of one machine. */
export function sqliteStore(database: DatabaseSync): Store {
  database.exec('pragma synchronous = full; pragma busy_timeout = 1000');
  database.exec('create table if not exists service_auth (key text primary key, version text, record text)');
  const time = "cast(unixepoch('subsec') * 1000 as integer) as now";
  const read = database.prepare(`select version, record, ${time} from (select 1) left join service_auth on key = ?`);
  const create = database.prepare('insert or ignore into service_auth (key, version, record) values (?, ?, ?)');
  const replace = database.prepare('update service_auth set version = ?, record = ? where key = ? and version = ?');

  function present(key: string) {
    const { version, record, now } = read.get(key) ?? {};
    return { version: version?.toString(), record: record?.toString(), now: Number(now) };
  }

  return {
    durability: 'durable',
    async load(key, { signal } = {}) {
      signal?.throwIfAborted();
      return present(key);
    },
    async swap(key, { expected, version, record }, { signal } = {}) {
      signal?.throwIfAborted();
      if (expected === undefined) create.run(key, version, record);
      else replace.run(version, record, key, expected);
      const after = present(key);
      return { swapped: after.version === version, now: after.now };
    },
  };
}
