import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { startMariadb } from '@service-auth/test-tools/servers/mariadb';
import { startPostgres } from '@service-auth/test-tools/servers/postgres';
import { startRedis } from '@service-auth/test-tools/servers/redis';
import { freePort } from '@service-auth/test-tools/servers/server';
import { afterAll, expect, test } from 'vitest';

const redis = await orSkip(() => startRedis({ appendonly: 'yes' }));
const postgres = await orSkip(() => startPostgres());
const mariadb = await orSkip(() => startMariadb());
const folder = mkdtempSync(join(tmpdir(), 'service-auth-examples-'));
afterAll(async () => {
  await redis?.stop();
  await postgres?.stop();
  await mariadb?.stop();
  rmSync(folder, { recursive: true });
});

function run(example: string, argv: string[], env: Record<string, string>): ChildProcess {
  const file = fileURLToPath(new URL(`../${example}`, import.meta.url));
  const options = ['--conditions=@service-auth/source', '--disable-warning=ExperimentalWarning'];
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(SERVICE_|NODE_(?!COMPILE_CACHE)|REDIS_|POSTGRES_|MYSQL_|PORT$)/.test(name),
  );
  return spawn(process.execPath, [...options, file, ...argv], {
    env: { ...Object.fromEntries(inherited), STORE_DIRECTORY: join(folder, 'store'), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function* linesOf({ stdout }: ChildProcess): AsyncGenerator<string, undefined> {
  if (stdout) yield* createInterface({ input: stdout });
}

const runs = [
  { name: 'a directory', starts: 2, env: {} },
  { name: 'Redis', starts: 1, env: redis && { REDIS_URL: redis.url } },
  { name: 'PostgreSQL', starts: 1, env: postgres && { POSTGRES_URL: postgres.url } },
  { name: 'MySQL', starts: 1, env: mariadb && { MYSQL_URL: mariadb.url } },
];
for (const { name, starts, env } of runs) {
  test.runIf(env)(
    `fleet.ts: eight processes share one token over ${name}`,
    async () => {
      const child = run('fleet.ts', [`${starts}`], env ?? {});
      const ended = once(child, 'exit');
      const lines: string[] = [];
      for await (const line of linesOf(child)) lines.push(line);
      expect((await ended)[0]).toBe(0);

      const total = 8 * starts;
      expect(lines.shift()).toBe(`8 processes, each started ${starts} times, with ${name} as their store:`);
      const did = lines
        .splice(0, total)
        .map((line) => /(was issued|adopted) token (\S+), the API answered 200 200 200$/.exec(line));
      expect(did.filter((match) => match?.[1] === 'was issued')).toHaveLength(1);
      expect(did.filter((match) => match?.[1] === 'adopted')).toHaveLength(total - 1);
      expect(new Set(did.map((match) => match?.[2])).size).toBe(1);
      expect(lines).toEqual([
        `The service counted ${total * 3} requests of the API, 0 of them without a valid token,`,
        '1 token request and 1 token issued.',
      ]);
    },
    120_000,
  );
}

test.runIf(redis)(
  'two-terminals.ts: the second terminal finds the token of the first',
  async () => {
    const env = { REDIS_URL: redis?.url ?? '', PORT: `${await freePort()}` };
    const children: ChildProcess[] = [];
    const ends: Promise<unknown>[] = [];
    /** The output of one terminal, up to the third answer of the API. */
    async function terminal(): Promise<string> {
      const child = run('two-terminals.ts', [], env);
      children.push(child);
      ends.push(once(child, 'exit'));
      let shown = '';
      for await (const line of linesOf(child)) {
        shown += `${line}\n`;
        if (/(answered 200.*\n[\s\S]*){2}/.test(shown)) break;
      }
      return shown;
    }
    try {
      const first = await terminal();
      expect(first).toMatch(/in Redis, and runs the service/);
      const token = /Token (\S+) was issued to this process/.exec(first)?.[1];
      expect(first).toMatch(/the service has issued 1\n/);
      for (let start = 1; start <= 2; start += 1) {
        const next = await terminal();
        expect(next).toContain(`Token ${token} was there already.`);
        expect(next).not.toContain('was issued');
        expect(next).toContain('The API answered 200; 1 in the count\n');
      }
    } finally {
      for (const child of children) child.kill();
      await Promise.all(ends);
    }
  },
  60_000,
);
