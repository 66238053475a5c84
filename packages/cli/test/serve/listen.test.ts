import { once } from 'node:events';
import { linkSync, readdirSync } from 'node:fs';
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
