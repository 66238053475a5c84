import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { startRedis } from '@service-auth/test-tools/servers/redis';
import { startTestService, type TestService } from '@service-auth/testing';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { compileNestjs } from './support/compile-nestjs.ts';

const redis = await orSkip(() => startRedis({ appendonly: 'yes' }));
afterAll(() => redis?.stop());

function start(file: string, { env }: TestService): ChildProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(SERVICE_|NODE_(?!COMPILE_CACHE))/.test(name));
  const variables = { ...Object.fromEntries(inherited), ...env, REDIS_URL: redis?.url ?? '', PORT: '0', NO_COLOR: '1' };
  const child = spawn(process.execPath, ['--conditions=@service-auth/source', file], {
    env: variables,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** The address that the application prints once it listens. */
async function addressOf({ stdout }: ChildProcess): Promise<string> {
  let printed = '';
  for await (const chunk of stdout?.iterator({ destroyOnReturn: false }) ?? []) {
    printed += chunk;
    const address = /Listening on (\S+)\n/.exec(printed)?.[1];
    if (address) return address;
  }
  return expect.fail(`It ended early: ${printed}`);
}

// Closes the application as the signal does, and leaves it to Node to end the process.
const program = `
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';

const app = await NestFactory.create(AppModule, { logger: ['error'] });
await app.listen(0);
const response = await fetch(await app.getUrl() + '/orders', { headers: { connection: 'close' } });
console.log(response.status);
await app.close();
`;

describe.runIf(redis)('an application of Nest with a Redis store', () => {
  test('has one token for all instances, and ends on SIGTERM', { timeout: 30_000 }, async () => {
    await using service = await startTestService();
    const main = `${await compileNestjs('nestjs-redis')}/main.js`;
    for (let instance = 1; instance <= 2; instance += 1) {
      const app = start(main, service);
      const ended = once(app, 'exit');
      const response = await fetch(`${await addressOf(app)}/orders`, { headers: { connection: 'close' } });
      expect(response.status).toBe(200);
      app.kill('SIGTERM');
      expect(await ended).toEqual([null, 'SIGTERM']);
    }
    expect(service.counts).toMatchObject({ issued: 1, apiRequests: 2 });
  });

  test('leaves nothing open when it is closed', { timeout: 30_000 }, async () => {
    await using service = await startTestService();
    const file = `${await compileNestjs('nestjs-redis')}/close.js`;
    await writeFile(file, program);
    const app = start(file, service);
    const [printed, complaint, [code]] = await Promise.all([
      text(app.stdout as NodeJS.ReadableStream),
      text(app.stderr as NodeJS.ReadableStream),
      once(app, 'exit'),
    ]);
    expect({ code, printed, complaint }).toEqual({ code: 0, printed: '200\n', complaint: '' });
  });
});
