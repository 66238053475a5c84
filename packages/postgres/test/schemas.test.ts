import { orSkip } from '@service-auth/test-tools/or-skip';
import { startPostgres } from '@service-auth/test-tools/servers/postgres';
import pg from 'pg';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { createTable, createTableSql, postgresStore } from '../src/index.ts';

const postgres = await orSkip(() => startPostgres());
const pools: pg.Pool[] = [];
afterAll(async () => {
  for (const pool of pools) await pool.end();
  await postgres?.stop();
});

/** A pool whose sessions have this search path. */
function searching(...schemas: string[]): pg.Pool {
  const options = `-c search_path=${schemas.join(',')}`;
  const pool = new pg.Pool({ connectionString: postgres?.url ?? '', max: 2, options });
  pools.push(pool);
  return pool;
}

const change = (version: string, expected?: string) => ({ expected, version, record: `record of ${version}` });
const places = `select n.nspname as schema, c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind = 'r' and c.relname = 'service_auth'
  union all select n.nspname, p.proname from pg_proc p join pg_namespace n on n.oid = p.pronamespace where p.proname like 'service_auth_%' order by 1, 2`;

describe.runIf(postgres)('a table whose name has no schema', () => {
  beforeEach(async () => {
    await searching('public').query(
      'drop schema if exists app, public cascade; create schema app; create schema public',
    );
  });

  async function found(): Promise<string[]> {
    const { rows } = await searching('public').query(places);
    return rows.map(({ schema, name }) => `${schema}.${name}`);
  }
  const whole = (schema: string) => ['', '_load', '_swap'].map((suffix) => `${schema}.service_auth${suffix}`);

  test.each([
    ['public', ['public'], ['app', 'public']],
    ['app', ['app'], ['public', 'app']],
    ['app', ['app', 'public'], ['public', 'app']],
  ])('stands in %s with its functions, whatever search path the next program has', async (place, first, second) => {
    const [one, other] = [searching(...first), searching(...second)];
    await createTable(one);
    await createTable(other);
    expect(await found()).toEqual(whole(place));
    await postgresStore(one).swap('key', change('1'));
    expect(await postgresStore(other).load('key')).toMatchObject({ version: '1', warnings: [] });
  });

  test('stands in one schema also when it is created by hand', async () => {
    await createTable(searching('public'));
    await searching('app', 'public').query(createTableSql());
    expect(await found()).toEqual(whole('public'));
  });

  test('is read where it was created by sessions that find another table of its name first', async () => {
    await createTable(searching('public'));
    await postgresStore(searching('public')).swap('key', change('1'));
    await searching('app').query('create table service_auth (key text primary key, version text, record text)');
    expect(await postgresStore(searching('app', 'public')).load('key')).toMatchObject({ version: '1' });
  });

  test('is a warning where two schemas have it, until its name has the schema', async () => {
    await createTable(searching('app'));
    await createTable(searching('public'));
    const warning =
      'The schemas app, public have a table service_auth each: programs whose search_path differs have different counts, and each issues the whole limit. Keep one of them, and name it with its schema: table: "app.service_auth".';
    for (const path of [['app'], ['public'], ['public', 'app']]) {
      const store = postgresStore(searching(...path));
      expect(await store.load('key')).toMatchObject({ warnings: [warning] });
      expect(await store.load('key')).toMatchObject({ warnings: [warning] });
    }
    const named = postgresStore(searching('app'), { table: 'app.service_auth' });
    expect(await named.load('key')).toMatchObject({ warnings: [] });
  });

  test('is a warning with the name of each schema, in which what is no letter, digit or underscore is a question mark', async () => {
    const schemas = ['"Work_1"', '"we,ird"'];
    for (const schema of schemas) {
      await searching('public').query(`drop schema if exists ${schema} cascade; create schema ${schema}`);
      await createTable(searching(schema));
    }
    const { warnings = [] } = await postgresStore(searching('"Work_1"')).load('key');
    for (const schema of schemas) await searching('public').query(`drop schema ${schema} cascade`);
    expect(warnings).toEqual([
      expect.stringMatching(/^The schemas Work_1, we\?ird have .* table: "Work_1\.service_auth"\.$/),
    ]);
  });

  test('may be created again by a user who may create nothing', async () => {
    const administrator = searching('public');
    await createTable(administrator);
    await administrator.query('do $$ begin create role guest login; exception when duplicate_object then end $$');
    await administrator.query('grant usage on schema public to guest');
    const guest = new pg.Pool({ connectionString: postgres?.url.replace('test@', 'guest@') ?? '' });
    pools.push(guest);
    await createTable(guest);
  });
});
