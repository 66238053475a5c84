import { writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { debuglog } from 'node:util';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { Logger } from '@nestjs/common';
import { dynamodbStore } from '@service-auth/dynamodb';
import { dynaliteClientSettings } from '@service-auth/test-tools/servers/dynalite';
import axios from 'axios';
import got from 'got';
import { Redis } from 'ioredis';
import mysql2 from 'mysql2/promise';
import pg from 'pg';
import type { Places } from './stores.ts';

/** The parts of the planted leaks. */
export interface Ground extends Places {
  readonly secret: string;
  readonly token: string;
  readonly origin: string;
  print(value: unknown): void;
  log(error: unknown): void;
}

const hidden = (secret: string) => Object.defineProperty(new Error('x'), 'secret', { value: secret });

/** Values that contain the secret, as nothing of ours may. */
const values: Readonly<Record<string, (secret: string) => unknown>> = {
  text: (secret) => secret,
  message: (secret) => new Error(`failed with ${secret}`),
  cause: (secret) => new Error('failed', { cause: new Error('inside', { cause: new Error(secret) }) }),
  event: (secret) => ({ type: 'token_issued', at: 0, token: secret }),
  JSON: (secret) => ({ toJSON: () => ({ secret }) }),
  hidden: (secret) => [hidden(secret)],
  symbol: (secret) => ({ [Symbol('s')]: secret }),
  getter: (secret) => ({
    get secret() {
      return secret;
    },
  }),
};

/** Leaks of every kind, one for each name, into every place that is searched. Each has its own mark behind the canary. */
export async function plant(ground: Ground): Promise<void> {
  const { secret, token, origin, directory, print, log } = ground;
  const { redis, postgres, mysql, dynamoDb } = ground;
  const marked = (name: string) => `${secret}@${name}.`;
  for (const [name, value] of Object.entries(values)) print(value(marked(name)));
  console.error(marked('stderr'));
  debuglog('planted')(marked('NODE_DEBUG'));
  process.emitWarning(marked('warning'));
  new Logger().error(marked('logger'));

  // The errors of clients that were given the token by hand.
  const headers = (name: string) => ({ headers: { authorization: `Bearer ${token}@${name}.` } });
  const retry = { limit: 0 };
  await axios.get(`${origin}/api-500/api/`, headers('axios')).catch(log);
  await got(`${origin}/api-500/api/`, { ...headers('got'), retry }).catch(log);

  // Their errors contain the agent, and its queue the requests that wait.
  const agent = () => new Agent({ keepAlive: true, maxSockets: 1 });
  const [httpAgent, http] = [agent(), agent()];
  const byAxios = () => axios.get(`${origin}/api-500/api/`, { httpAgent, ...headers('axios-queue') });
  const byGot = () => got(`${origin}/api-500/api/`, { agent: { http }, ...headers('got-queue'), retry });
  for (const send of [byAxios, byGot]) {
    const first = send().catch((error) => {
      for (const agents of [error.config, error.options?.agent]) if (agents) log(agents.httpAgent ?? agents.http);
    });
    await Promise.allSettled([first, send(), send()]);
  }

  writeFileSync(join(directory, 'dump'), marked('file'));
  writeFileSync(join(directory, marked('file-name')), '');
  writeFileSync(join(tmpdir(), 'dump'), marked('temporary'));
  if (redis) {
    const client = new Redis(redis);
    await client.hset(marked('redis-key'), 'field', marked('redis-value'));
    await client.hset('past', 'field', marked('redis-past'));
    await client.del('past');
  }
  if (postgres) {
    const pool = new pg.Pool({ connectionString: postgres });
    const insert = 'insert into service_auth (key, version, record) values ($1, $2, $3)';
    await pool.query(insert, [marked('postgres-key'), marked('postgres-version'), marked('postgres-record')]);
    // A text can lie across two pages of the log of PostgreSQL, with a page header in it. Not both of them do.
    for (const key of ['past 1', 'past 2']) await pool.query(insert, [key, '1', marked('postgres-past')]);
    await pool.query("delete from service_auth where key like 'past%'");
  }
  if (mysql) {
    const pool = mysql2.createPool(mysql);
    const insert = 'insert into service_auth values (?, ?, ?)';
    await pool.query(insert, [marked('mysql-key'), marked('mysql-version'), marked('mysql-record')]);
    await pool.query(insert, ['past', '1', marked('mysql-past')]);
    await pool.query("delete from service_auth where `key` = 'past'");
  }
  if (dynamoDb) {
    const store = dynamodbStore(new DynamoDBClient(dynaliteClientSettings(dynamoDb)));
    const [version, record] = [marked('dynamodb-version'), marked('dynamodb-record')];
    await store.swap(marked('dynamodb-key'), { version, record });
  }
}
