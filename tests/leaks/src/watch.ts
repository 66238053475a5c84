import { fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { secretCanary, sightings, tokenCanary } from '@service-auth/test-tools/canaries';
import { dynaliteClientSettings } from '@service-auth/test-tools/servers/dynalite';
import { Redis } from 'ioredis';
import mysql2, { type RowDataPacket } from 'mysql2/promise';
import pg from 'pg';
import type { Outcome } from './program.ts';
import { startService } from './service.ts';
import type { Places } from './stores.ts';

/** The results of one run of the program: the outcome of each request, and all its output, with bytes as latin1. */
export interface Traces {
  readonly exitCode: number;
  readonly outcomes: readonly Outcome[];
  readonly places: Readonly<Record<string, string>>;
  /** Records taken out of stderr: what Node and follow-redirects print of every request when they are asked to. */
  readonly wire: readonly string[];
}

// A record may have several lines. The lines after its first begin with a space or a closing bracket, and no other line does.
const wireRecord =
  /^(?:NET \d+: createConnection |STREAM \d+: push <Buffer |\S+Z follow-redirects ).*\n(?:[ }\])].*\n)*/gm;

/** Runs the program in `folder`, with every trace of every library turned on. */
export async function runProgram(folder: string, servers: Omit<Places, 'directory'>): Promise<Traces> {
  const { redis, postgres, mysql, dynamoDb } = servers;
  const inFolder = (name: string) => join(folder, name);
  const [directory, temporary] = [inFolder('written'), inFolder('written/temporary')];
  mkdirSync(temporary, { recursive: true });
  const traced = { DEBUG: '*', NODE_DEBUG: '*', SECRET_CANARY: secretCanary, TOKEN_CANARY: tokenCanary };
  const [stdout, stderr] = [openSync(inFolder('stdout'), 'w'), openSync(inFolder('stderr'), 'w')];
  const outcomes: Outcome[] = [];
  const service = await startService((behaviour) => child.send(behaviour));
  const child = fork(
    fileURLToPath(new URL('program.ts', import.meta.url)),
    [service.origin, JSON.stringify({ ...servers, directory })],
    {
      cwd: directory,
      execArgv: ['--conditions=@service-auth/source'],
      env: { ...process.env, ...traced, TMPDIR: temporary },
      // Files, for writing to them ends before the program goes on.
      stdio: ['ignore', stdout, stderr, 'ipc'],
    },
  );
  child.on('message', (outcome: Outcome) => {
    outcomes.push(outcome);
    service.release();
  });
  const [exitCode] = await once(child, 'exit');
  service.close();
  for (const stream of [stdout, stderr]) closeSync(stream);
  const wire: string[] = [];
  const places = {
    stdout: readFileSync(inFolder('stdout'), 'latin1'),
    stderr: readFileSync(inFolder('stderr'), 'latin1').replace(wireRecord, (record) => {
      wire.push(record);
      return '';
    }),
    files: filesIn(directory),
    ...(redis && { redis: await contentsOfRedis(redis) }),
    ...(postgres && { postgres: await contentsOfPostgres(postgres) }),
    ...(mysql && { mysql: await contentsOfMysql(mysql) }),
    ...(dynamoDb && { dynamodb: await contentsOfDynamoDb(dynamoDb) }),
  };
  return { exitCode, outcomes, places, wire };
}

/** Names and bytes of all files. */
function filesIn(directory: string): string {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const contents = entries.map(({ parentPath, name }) => `${name}\n${readFileSync(join(parentPath, name), 'latin1')}`);
  return contents.join('\n');
}

/** Every key and value, and what was ever written to this server. */
async function contentsOfRedis(url: string): Promise<string> {
  const client = new Redis(url);
  const keys = await client.keys('*');
  const values = await Promise.all(keys.map((key) => client.hgetall(key)));
  const [, directory = ''] = (await client.config('GET', 'dir')) as string[];
  client.disconnect();
  return [JSON.stringify([keys, values]), filesIn(directory)].join('\n');
}

/** Every row of the table, and what was ever written to this server. */
async function contentsOfPostgres(url: string): Promise<string> {
  const pool = new pg.Pool({ connectionString: url });
  const { rows } = await pool.query('select * from service_auth');
  const { rows: settings } = await pool.query('show data_directory');
  await pool.end();
  return [JSON.stringify(rows), filesIn(join(settings[0].data_directory, 'pg_wal'))].join('\n');
}

/** Every row of the table, and what was ever written to this server. */
async function contentsOfMysql(url: string): Promise<string> {
  const connection = await mysql2.createConnection(url);
  const [rows] = await connection.query(
    'select cast(`key` as char), cast(version as char), cast(record as char) from service_auth',
  );
  const [settings] = await connection.query<RowDataPacket[]>('select @@datadir as folder');
  await connection.end();
  return [JSON.stringify(rows), filesIn(settings[0]?.['folder'])].join('\n');
}

/** Every item of the table. */
async function contentsOfDynamoDb(url: string): Promise<string> {
  const client = new DynamoDBClient(dynaliteClientSettings(url));
  const { Items } = await client.send(new ScanCommand({ TableName: 'service-auth' }));
  client.destroy();
  return JSON.stringify(Items);
}

/** The findings in a place: the marks of planted leaks, and all others. */
export interface Findings {
  readonly planted: readonly string[];
  /** With what the program was at, and the text around it. */
  readonly leaks: readonly string[];
}

export function findingsIn(text: string): Findings {
  const planted = new Set<string>();
  const leaks: string[] = [];
  for (const { canary, at } of sightings(text)) {
    const rest = text.slice(at + canary.length, at + canary.length + 40);
    const mark = /^@([\w-]+)\./.exec(rest)?.[1];
    // The log of PostgreSQL has page headers, and one of them can lie within a mark.
    const isCut = /^@postgres-[\w-]*[^ -~\n]/.test(rest);
    if (mark) planted.add(mark);
    else if (!isCut) leaks.push(`${headingBefore(text, at)}: ${text.slice(Math.max(0, at - 100), at + 40)}`);
  }
  return { planted: [...planted].sort(), leaks };
}

function headingBefore(text: string, at: number): string {
  const begin = text.lastIndexOf('\n=== ', at);
  return begin === -1 ? '' : text.slice(begin + 5, text.indexOf('\n', begin + 1));
}
