import { once } from 'node:events';
import { linkSync, lstatSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { listen } from '../../src/serve/listen.ts';
import { emptyFolder } from '../support/program.ts';

/** Leaves a socket at this path that nobody serves, as a process does that was killed. */
async function leaveStale(path: string): Promise<void> {
  const server = createTcpServer().listen(`${path}.first`);
  await once(server, 'listening');
  linkSync(`${path}.first`, path);
  server.close();
  await once(server, 'close');
}

test('of servers that take over the same stale socket at once, one has it, and the others say that it is in use', async () => {
  for (let round = 0; round < 20; round += 1) {
    const folder = emptyFolder();
    const path = join(folder, 'auth.sock');
    await leaveStale(path);
    const servers = [1, 2, 3].map(() => createServer());
    onTestFinished(() => {
      for (const server of servers) server.close();
    });
    const outcomes = await Promise.allSettled(servers.map((server) => listen(server, { entrance: 'open', path })));
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected', 'rejected']);
    const socket = connect(path);
    await once(socket, 'connect');
    socket.destroy();
    expect(readdirSync(folder)).toEqual(['auth.sock']);
  }
});

test('a process that was killed while it removed a stale socket is in nobody’s way after ten seconds', async () => {
  const folder = emptyFolder();
  const path = join(folder, 'auth.sock');
  await leaveStale(path);
  const claim = `${path}.${lstatSync(path).ino}`;
  writeFileSync(claim, '');
  const server = createServer();
  onTestFinished(() => void server.close());
  await expect(listen(server, { entrance: 'open', path })).rejects.toThrow('EADDRINUSE');

  const longAgo = new Date(Date.now() - 11_000);
  utimesSync(claim, longAgo, longAgo);
  await expect(listen(server, { entrance: 'open', path })).resolves.toBe(`unix:${path}`);
  expect(readdirSync(folder)).toEqual(['auth.sock']);
});

test('a directory that does not exist is told', async () => {
  const folder = join(emptyFolder(), 'none');
  const listening = listen(createServer(), { entrance: 'open', path: join(folder, 'auth.sock') });
  await expect(listening).rejects.toThrow(`the directory ${folder} does not exist.`);
});
