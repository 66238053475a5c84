import { quotedName } from '@service-auth/core/sql';

export interface Names {
  readonly table: string;
  readonly loadProcedure: string;
  readonly swapProcedure: string;
}

/**
 * MySQL refuses names of more than 64 characters, and the procedures have five more than the table.
 */
const maxTableLength = 59;

export const defaultTable = 'service_auth';

/** @throws TypeError if `table` is no valid name */
export function namesOf(table: string = defaultTable): Names {
  const quoted = (suffix: string) => quotedName(table, '`', maxTableLength, 'mysql', suffix);
  return { table: quoted(''), loadProcedure: quoted('_load'), swapProcedure: quoted('_swap') };
}

/** Columns of bytes: keys and versions are equal only if all their bytes are. */
const key = 'varbinary(767)';
const version = 'varbinary(255)';
const record = 'mediumblob';

/**
 * SYSDATE() goes on within a procedure, and UNIX_TIMESTAMP() of old servers ends in 2038. The
 * procedures set the time zone to UTC before.
 */
const clock = "timestampdiff(microsecond, '1970-01-01', sysdate(3)) div 1000";

/** The SQL that creates the table and its procedures, a statement each. */
export function statementsToCreate({ table, loadProcedure, swapProcedure }: Names): string[] {
  return [
    `create table if not exists ${table}
(\`key\` ${key} not null primary key, version ${version} not null, record ${record} not null) engine = InnoDB`,
    `create procedure ${loadProcedure}(in at_key ${key})
sql security invoker
${bodyOf(
  `
  start transaction read only;
  select kept.version, kept.record into next_version, next_record from ${table} as kept where kept.\`key\` = at_key;
  commit and no chain no release;`,
  `next_version as version, next_record as record, ${clock} as now, @@innodb_flush_log_at_trx_commit as flushed,
    @@log_bin as logged, @@sync_binlog as synced, @@max_allowed_packet as packet`,
  `declare next_version ${version};
  declare next_record ${record};`,
)}`,
    // The condition also matches the new version, so a repeated change reports the same result as
    // the first one. The row stays locked until the commit. So its version shows then who wrote it.
    // The number of affected rows does not, because options of the connection change that number.
    `create procedure ${swapProcedure}(in at_key ${key}, in expected ${version}, in next_version ${version}, in next_record ${record})
sql security invoker
${bodyOf(
  `
  start transaction read write;
  if expected is null then
    insert into ${table} (\`key\`, version, record) values (at_key, next_version, next_record)
      on duplicate key update version = ${table}.version;
  else
    update ${table} as kept set kept.version = next_version, kept.record = next_record
      where kept.\`key\` = at_key and kept.version in (expected, next_version);
  end if;
  select count(*) into swapped from ${table} as kept where kept.\`key\` = at_key and kept.version = next_version;
  commit and no chain no release;`,
  `swapped, ${clock} as now`,
  'declare swapped int default 0;',
)}`,
  ];
}

/**
 * The body of a procedure: a transaction, then the row of the answer. SET TRANSACTION fails within
 * a transaction of the session, whose rollback would undo the count. The server ends a wait for a
 * lock after a second, which is its shortest. The settings of the session are as before afterwards.
 */
function bodyOf(transaction: string, answer: string, variables: string): string {
  const restore = 'set session lock_wait_timeout = table_wait, innodb_lock_wait_timeout = row_wait, time_zone = zone;';
  return `begin
  ${variables}
  declare begun bool default false;
  declare table_wait bigint default @@session.lock_wait_timeout;
  declare row_wait bigint default @@session.innodb_lock_wait_timeout;
  declare zone varchar(64) default @@session.time_zone;
  declare continue handler for not found begin end;
  declare exit handler for sqlexception begin
    if begun then rollback and no chain no release; end if;
    ${restore}
    resignal;
  end;
  set transaction isolation level repeatable read;
  set session lock_wait_timeout = 1, innodb_lock_wait_timeout = 1, time_zone = '+00:00';
  set begun = true;${transaction}
  set begun = false;
  select ${answer};
  ${restore}
end`;
}
