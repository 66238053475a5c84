// Real servers for tests: on a free port of 127.0.0.1, with data of their own in a temporary folder, ended by their process id.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { temporaryFolder } from '../end-with-this-process.ts';

/** A server that a test may do anything to. */
export interface TestServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** SIGKILL, as in a crash. */
  kill(): Promise<void>;
  /** Starts what was killed, on the same port and with the same data. */
  restart(): Promise<void>;
  /** Ends it and deletes its data. */
  stop(): Promise<void>;
}

/** The command of a server's process. */
export interface ServerProcess {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Record<string, string>;
  /** For servers that refuse to run as root. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  /** The output that shows that it accepts connections. */
  readonly ready: RegExp;
}

const startWithinMs = 30_000;

/** Waits until `isSo`, but no longer than a server may take to start: then it rejects with `what` was awaited. */
export async function until(
  what: string,
  isSo: () => Promise<boolean>,
  withinMs: number = startWithinMs,
): Promise<void> {
  const giveUpAt = performance.now() + withinMs;
  while (!(await isSo())) {
    if (performance.now() > giveUpAt) throw new Error(`not within ${withinMs} ms: ${what}`);
    await delay(20);
  }
}

/**
 * Returns a port of 127.0.0.1 that is free, for a server that cannot choose one itself. It is below those that systems choose for
 * connections and for whoever asks for any port. Two tests that choose at the same time never get the same one: this process listens on
 * a second port, 11,000 below the first, until it ends.
 */
export async function freePort(): Promise<number> {
  const port = randomInt(21_000, 32_000);
  const claim = await listener(port - 11_000);
  if (claim === undefined) return freePort();
  claim.unref();
  const server = await listener(port);
  if (server === undefined) return freePort();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A server that listens on the port, or undefined if another one does. */
async function listener(port: number): Promise<Server | undefined> {
  const server = createServer().listen(port, '127.0.0.1');
  return once(server, 'listening').then(
    () => server,
    () => undefined,
  );
}

/** A folder for the data of a server, and a port for it to listen on. */
export async function newPlace(name: string): Promise<{ folder: string; port: number }> {
  return { folder: temporaryFolder(join(tmpdir(), `service-auth-${name}-`)), port: await freePort() };
}

/** Starts a server, which ends with this process at the latest. Its data are in a folder that `temporaryFolder` has created. */
export async function startServer(
  process_: ServerProcess,
  { url, port, folder }: { url: string; port: number; folder: string },
): Promise<TestServer> {
  let child: ChildProcess;

  async function restart(): Promise<void> {
    // The children of a killed PostgreSQL take a moment to notice, and it does not start before.
    for (let attempt = 1; ; attempt += 1) {
      try {
        child = await spawnReady(process_);
        return;
      } catch (error) {
        if (attempt === 10) throw error;
        await delay(100);
      }
    }
  }

  async function kill(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  async function stop(): Promise<void> {
    await kill();
    rmSync(folder, { recursive: true, force: true });
  }

  await restart();
  return { url, port, kill, restart, stop, [Symbol.asyncDispose]: stop };
}

async function spawnReady({ command, args, env, user, ready }: ServerProcess): Promise<ChildProcess> {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'], ...user });
  let output = '';
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const read = (chunk: Buffer) => {
        output = (output + chunk).slice(-4_000);
        if (ready.test(output)) resolve();
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.once('error', reject);
      child.once('exit', (code, signal) => reject(new Error(`it ended with ${code ?? signal}`)));
      timer = setTimeout(() => reject(new Error(`it was not ready within ${startWithinMs} ms`)), startWithinMs);
    });
    return child;
  } catch (error) {
    child.kill('SIGKILL');
    throw new Error(`${command} could not be started: ${(error as Error).message}\n${output}`);
  } finally {
    clearTimeout(timer);
  }
}
