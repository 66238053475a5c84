import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../servers/server.ts';

const urlOf = (path: string) => JSON.stringify(new URL(path, import.meta.url));

/** A program that listens until it is killed. */
const listening = (port: number) =>
  `require('node:net').createServer().listen(${port}, '127.0.0.1', () => console.log('it listens'))`;

/** Runs a module in a process. Resolves with the process and its output when a server of its own listens. */
async function startParent(source: string): Promise<{ parent: ChildProcess; output: string }> {
  const parent = spawn(process.execPath, ['--input-type=module', '--eval', source], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void parent.kill('SIGKILL'));
  const [output] = await once(parent.stdout, 'data');
  expect(`${output}`).toContain('it listens');
  return { parent, output: `${output}` };
}

/** Connects to a port. Resolves with a promise that the other end ends the connection. */
async function connectTo(port: number): Promise<{ ended: Promise<unknown> }> {
  const socket = connect(port, '127.0.0.1').resume();
  await once(socket, 'connect');
  // A killed process can also reset it.
  return { ended: new Promise((resolve) => socket.on('error', () => {}).on('close', resolve)) };
}

const ends: [string, (parent: ChildProcess) => unknown][] = [
  ['ends of its own accord', (parent) => parent.stdin?.end()],
  ['is interrupted', (parent) => parent.kill('SIGINT')],
  ['is terminated', (parent) => parent.kill('SIGTERM')],
  ['is killed', (parent) => parent.kill('SIGKILL')],
];

test.each(ends)('a server and its folder do not outlive a process that %s', async (_, end) => {
  const port = await freePort();
  const { parent, output } = await startParent(`
    import { temporaryFolder } from ${urlOf('../end-with-this-process.ts')};
    import { startServer } from ${urlOf('../servers/server.ts')};
    const args = ['--eval', ${JSON.stringify(listening(port))}];
    const folder = temporaryFolder(${JSON.stringify(join(tmpdir(), 'service-auth-server-'))});
    await startServer({ command: process.execPath, args, ready: /it listens/ }, { url: '', port: ${port}, folder });
    process.stdin.on('end', () => process.exit()).resume();
    console.log('it listens:' + folder);`);
  const folder = output.trim().split(':')[1] ?? '';
  expect(existsSync(folder)).toBe(true);
  const connection = await connectTo(port);
  end(parent);
  await connection.ended;
  await expect.poll(() => existsSync(folder)).toBe(false);
});

test('what a program starts does not outlive the process that has started the program in a group of its own', async () => {
  const port = await freePort();
  const program = `require('node:child_process').spawn(process.execPath, ['--eval', ${JSON.stringify(listening(port))}], { stdio: 'inherit' })`;
  const { parent } = await startParent(`
    import ${urlOf('../end-with-this-process.ts')};
    import { spawn } from 'node:child_process';
    const options = { detached: true, stdio: ['ignore', 'inherit', 'inherit'] };
    spawn(process.execPath, ['--eval', ${JSON.stringify(program)}], options);`);
  const connection = await connectTo(port);
  parent.kill('SIGKILL');
  await connection.ended;
});

test('a worker of Vitest, and what it starts, do not outlive Vitest', async () => {
  const port = await freePort();
  const worker = `
    import ${urlOf('../set-up.ts')};
    import { spawn } from 'node:child_process';
    spawn(process.execPath, ['--eval', ${JSON.stringify(listening(port))}], { stdio: ['ignore', 'inherit', 'inherit'] });
    process.on('message', () => {});`;
  const { parent } = await startParent(`
    import { spawn } from 'node:child_process';
    const options = { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] };
    spawn(process.execPath, ['--input-type=module', '--eval', ${JSON.stringify(worker)}], options);`);
  const connection = await connectTo(port);
  parent.kill('SIGKILL');
  await connection.ended;
});
