import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '@service-auth/test-tools/servers/server';
import type { TestService } from '@service-auth/testing';

/** A process that shows its metrics at a port. */
export interface Member extends AsyncDisposable {
  readonly port: number;
}

const program = fileURLToPath(new URL('member.ts', import.meta.url));

/** Starts a process over a Redis. */
export async function startMember(
  service: TestService,
  redisUrl: string,
  variables: Readonly<Record<string, string>>,
): Promise<Member> {
  const port = await freePort();
  const child = spawn(process.execPath, ['--conditions=@service-auth/source', program], {
    env: { PATH: process.env['PATH'], ...service.env, ...variables, REDIS_URL: redisUrl, METRICS_PORT: `${port}` },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  return { port, [Symbol.asyncDispose]: () => end(child) };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.disconnect();
  await ended;
}
