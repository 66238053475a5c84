import type { Store } from '@service-auth/core';
import { postgresStore } from '@service-auth/postgres';
import { redisStore } from '@service-auth/redis';
import { Redis } from 'ioredis';
import pg from 'pg';
import { createOurs, instantTransport } from '../contenders/ours.ts';
import { clientAt } from '../harness/client.ts';
import type { Places } from '../harness/places.ts';
import { processorSeconds, tellsProcessorTime } from '../harness/processor-time.ts';

const loads = 5_000;
const connections = 8;

/** Seconds of processor time that a server needs for one load of a record, by the server's name. */
export async function secondsPerLoad({ redis, postgres }: Places): Promise<Record<string, number>> {
  const seconds: Record<string, number> = {};
  if (redis) {
    const connection = new Redis(redis);
    seconds['Redis'] = await measure(redisStore(connection), async () => redisSeconds(await connection.info('cpu')));
    connection.disconnect();
  }
  // The processor time of its processes is known on this machine only, and only where Linux tells it.
  if (postgres && new URL(postgres).hostname === '127.0.0.1' && tellsProcessorTime) {
    const pool = new pg.Pool({ connectionString: postgres, max: connections, application_name: 'bench' });
    seconds['PostgreSQL'] = await measure(postgresStore(pool), async () => {
      const { rows } = await pool.query(`select pid from pg_stat_activity where application_name = 'bench'`);
      return rows.reduce((sum, { pid }) => sum + processorSeconds(pid), 0);
    });
    await pool.end();
  }
  return seconds;
}

async function measure(store: Store, secondsSoFar: () => Promise<number>): Promise<number> {
  let key = '';
  const spied: Store = {
    ...store,
    load(name, options) {
      key = name;
      return store.load(name, options);
    },
  };
  await createOurs(clientAt(), { store: spied, transport: instantTransport('x'.repeat(754)) }).getToken();
  const run = async () => {
    for (let load = 0; load < loads / connections; load += 1) await store.load(key);
  };
  const runAll = () => Promise.all(Array.from({ length: connections }, run));
  await runAll();
  const before = await secondsSoFar();
  await runAll();
  return ((await secondsSoFar()) - before) / loads;
}

function redisSeconds(info: string): number {
  const part = (name: string) => Number(new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1]);
  return part('used_cpu_sys') + part('used_cpu_user');
}
