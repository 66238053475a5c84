import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { lstat, unlink, writeFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { dirname } from 'node:path';
import { Failure } from '../line/exit.ts';
import type { Place } from './settings.ts';

// Enough for a fleet that starts at once. The system may lower it.
const backlog = 4_096;

// Removing a stale socket takes milliseconds.
const abandonedAfterMs = 10_000;

/**
 * Makes the server listen. Resolves with the address as people write it.
 * @throws Failure if the place cannot be used
 */
export async function listen(server: Server, place: Place): Promise<string> {
  try {
    if (place.path === undefined) return await listenOnPort(server, place.host, place.port);
    await removeStale(place.path);
    return await listenOnSocket(server, place.path);
  } catch (error) {
    const { code } = Object(error) as { code?: unknown };
    const name = place.path ?? `${place.host}:${place.port}`;
    // The error of the system says that access is denied.
    if (place.path !== undefined && !existsSync(dirname(place.path)))
      throw new Failure(`Cannot listen on ${name}: the directory ${dirname(place.path)} does not exist.`);
    throw new Failure(`Cannot listen on ${name} (${code}). Choose another port or socket.`);
  }
}

async function listenOnPort(server: Server, host: string, port: number): Promise<string> {
  server.listen({ host, port, backlog });
  await once(server, 'listening');
  const { address, family, port: taken } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}`;
}

/** Others must not connect even for a moment, so the file has its mode from the beginning. */
async function listenOnSocket(server: Server, path: string): Promise<string> {
  const before = process.umask(0o177);
  try {
    server.listen({ path, backlog });
  } finally {
    process.umask(before);
  }
  await once(server, 'listening');
  return `unix:${path}`;
}

/** A process that was killed leaves its socket behind. One that answers is not touched. */
async function removeStale(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (!found?.isSocket() || (await isServed(path))) return;
  // Others may have found the same socket. Whoever creates this file may remove it, and listening
  // tells the others that the path is in use.
  const claim = `${path}.${found.ino}`;
  if (!(await isCreated(claim))) return;
  const current = await lstat(path).catch(() => undefined);
  if (current?.ino === found.ino && !(await isServed(path))) await unlink(path);
  await unlink(claim).catch(unlessGone);
}

/** Whether this process created the file. One that a killed process left behind is replaced. */
async function isCreated(file: string): Promise<boolean> {
  const create = () =>
    writeFile(file, '', { flag: 'wx' }).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'EEXIST') return false;
        throw error;
      },
    );
  if (await create()) return true;
  const stats = await lstat(file).catch(() => undefined);
  if (stats === undefined || Date.now() - stats.mtimeMs < abandonedAfterMs) return false;
  await unlink(file).catch(unlessGone);
  return create();
}

async function isServed(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code !== 'ECONNREFUSED' && code !== 'ENOENT';
  } finally {
    socket.destroy();
  }
}

function unlessGone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
