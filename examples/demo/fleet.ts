import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestService } from '@service-auth/testing';
import type { MemberMessage } from '../fleet-member.ts';
import type { Screen } from './screen.ts';

interface Member {
  readonly name: string;
  readonly child: ChildProcess;
  readonly adopted: boolean;
  readonly answers: number;
  readonly running: boolean;
}

const size = 8;
const victims = [2, 5];

/** Real processes that share a directory. Two of them are killed while all send requests, and started again. */
export async function showFleet(screen: Screen): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'service-auth-demo-'));
  await using service = await startTestService();
  const env = {
    ...process.env,
    REDIS_URL: '',
    POSTGRES_URL: '',
    STORE_DIRECTORY: join(folder, 'store'),
    ...service.env,
  };
  const members: { -readonly [Name in keyof Member]: Member[Name] }[] = [];
  let onProgress = () => {};

  function start(index: number): void {
    const name = `process ${index + 1}`;
    const child = fork(new URL('../fleet-member.ts', import.meta.url), {
      env: { ...env, INSTANCE: name },
      execArgv: ['--conditions=@service-auth/source', '--disable-warning=ExperimentalWarning'],
    });
    const member = { name, child, adopted: false, answers: 0, running: true };
    members[index] = member;
    child.on('message', (message: MemberMessage) => {
      if (message.type === 'token_issued') screen.event(`${name} has token ${message.tokenId} issued`);
      if (message.type === 'token_adopted') member.adopted = true;
      if (message.type === 'answered' && message.status === 200) member.answers += 1;
      showPicture();
      onProgress();
    });
    child.on('exit', (_, signal) => {
      if (signal !== 'SIGKILL') return;
      member.running = false;
      showPicture();
    });
  }

  function showPicture(): void {
    const { issued, apiRequests } = service.counts;
    const states = members.map(
      ({ running, answers }, index) => `${index + 1} ${running ? (answers > 0 ? '●' : '○') : '✗'}`,
    );
    screen.picture(
      `${states.join('  ')}   ${apiRequests.toLocaleString('en')} requests, ${issued} token issued, says the service`,
    );
  }

  /** Resolves when every process has had that many answers since it was started. */
  function everyoneAnswered(times: number): Promise<void> {
    return new Promise((resolve) => {
      onProgress = () => {
        if (members.every(({ answers }) => answers >= times)) resolve();
      };
    });
  }

  try {
    for (let index = 0; index < size; index += 1) start(index);
    await everyoneAnswered(25);
    screen.event(`${members.filter(({ adopted }) => adopted).length} processes found it in the directory`);

    const killed = victims.flatMap((index) => members[index] ?? []);
    for (const { child } of killed) child.kill('SIGKILL');
    await Promise.all(killed.map(({ child }) => once(child, 'exit')));
    screen.event(`${killed.map(({ name }) => name).join(' and ')} killed with SIGKILL, among requests of all`);
    for (const index of victims) start(index);
    await everyoneAnswered(25);
    const again = victims.filter((index) => members[index]?.adopted).length;
    screen.event(`started again, ${again} of them found it in the directory`);
  } finally {
    const alive = members.filter(({ child }) => child.exitCode === null && child.signalCode === null);
    const ends = alive.map(({ child }) => once(child, 'exit'));
    for (const { child } of alive) {
      child.removeAllListeners('message');
      child.kill();
    }
    await Promise.all(ends);
    rmSync(folder, { recursive: true });
  }
  // The last answers came while the processes ended.
  showPicture();
  const { issued, apiRequests, apiUnauthorized } = service.counts;
  screen.result(
    `${size} processes, ${size + victims.length} starts, ${apiRequests.toLocaleString('en')} requests, ${apiUnauthorized} of them without a valid token. Tokens issued: ${issued}.`,
  );
}
