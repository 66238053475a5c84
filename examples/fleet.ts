// Eight processes, each started five times: forty starts, and one token.
//
//   npx --yes pnpm@12 example examples/fleet.ts
//
// They share it over a directory; over Redis with REDIS_URL set, over PostgreSQL with POSTGRES_URL, over MySQL with MYSQL_URL. Another number of starts is an argument.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestService } from '@service-auth/testing';
import type { MemberMessage } from './fleet-member.ts';

const processes = 8;
const starts = Number(process.argv[2] ?? 5);
const requests = 3;

const { REDIS_URL, POSTGRES_URL, MYSQL_URL } = process.env;
const where = REDIS_URL ? 'Redis' : POSTGRES_URL ? 'PostgreSQL' : MYSQL_URL ? 'MySQL' : 'a directory';
console.log(`${processes} processes, each started ${starts} times, with ${where} as their store:`);
const directory = mkdtempSync(join(tmpdir(), 'service-auth-fleet-'));
const service = await startTestService();
const env = {
  ...process.env,
  STORE_DIRECTORY: join(directory, 'store'),
  ...service.env,
};

/** Runs one process to its end, and prints what it did. */
async function run(name: string): Promise<void> {
  const child = fork(new URL('fleet-member.ts', import.meta.url), [`${requests}`], {
    env: { ...env, INSTANCE: name },
    execArgv: ['--conditions=@service-auth/source', '--disable-warning=ExperimentalWarning'],
  });
  const did: string[] = [];
  child.on('message', (message: MemberMessage) => {
    if (message.type === 'token_issued') did.push(`was issued token ${message.tokenId}, the API answered`);
    if (message.type === 'token_adopted') did.push(`adopted token ${message.tokenId}, the API answered`);
    if (message.type === 'answered') did.push(`${message.status}`);
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) process.exitCode = 1;
  console.log(`  ${name} ${did.join(' ')}`);
}

async function runAgainAndAgain(process: number): Promise<void> {
  for (let start = 1; start <= starts; start += 1) await run(`process ${process}, start ${start},`);
}

await Promise.all(Array.from({ length: processes }, (_, index) => runAgainAndAgain(index + 1)));
const { issued, tokenRequests, apiRequests, apiUnauthorized } = service.counts;
console.log(
  `The service counted ${apiRequests} requests of the API, ${apiUnauthorized} of them without a valid token,`,
);
console.log(`${tokenRequests} token request and ${issued} token issued.`);
await service.close();
rmSync(directory, { recursive: true });
