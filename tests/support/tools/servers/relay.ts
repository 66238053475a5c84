import { EventEmitter, once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * What a relay does with what it carries. `silent`: nothing gets through in either direction and no connection ends, until the mode changes;
 * `slow`: everything arrives late; `deaf`: what is asked arrives, and the connection breaks in place of the answer.
 */
export type RelayMode = 'pass' | 'silent' | 'slow' | 'deaf';

/** A TCP relay in front of a server: the network, in the hands of a test. */
export interface Relay extends AsyncDisposable {
  readonly port: number;
  /** The number of effects of each mode. */
  readonly counts: Readonly<Record<Exclude<RelayMode, 'pass'> | 'reset', number>>;
  set(mode: RelayMode): void;
  /** Breaks every connection. */
  reset(): void;
  close(): Promise<void>;
}

const slownessMs = 300;

/** Starts a relay on a free port of 127.0.0.1 to another port there. */
export async function startRelay(target: number): Promise<Relay> {
  const counts = { silent: 0, slow: 0, deaf: 0, reset: 0 };
  const pairs = new Set<Socket[]>();
  let mode: RelayMode = 'pass';
  const changes = new EventEmitter().setMaxListeners(0);

  async function whileSilent(): Promise<void> {
    if (mode === 'silent') counts.silent += 1;
    while (mode === 'silent') await once(changes, 'change');
  }

  async function carry(from: Socket, to: Socket, answers: boolean): Promise<void> {
    for await (const chunk of from) {
      await whileSilent();
      if (mode === 'slow') {
        counts.slow += 1;
        await delay(slownessMs);
      }
      if (mode === 'deaf' && answers) {
        counts.deaf += 1;
        from.destroy();
        to.resetAndDestroy();
        return;
      }
      if (!to.write(chunk)) await once(to, 'drain');
    }
    to.end();
  }

  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    const pair = [near, far];
    pairs.add(pair);
    for (const socket of pair) {
      socket.setNoDelay(true);
      // If one end breaks, the other one ends too. Both report it here and to their readers.
      socket.on('error', () => {});
      socket.once('close', () => {
        pairs.delete(pair);
        for (const end of pair) end.destroy();
      });
    }
    carry(near, far, false).catch(() => near.resetAndDestroy());
    carry(far, near, true).catch(() => near.resetAndDestroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();

  function set(next: RelayMode): void {
    mode = next;
    changes.emit('change');
  }

  function reset(): void {
    for (const [near] of pairs) {
      counts.reset += 1;
      near?.resetAndDestroy();
    }
  }

  async function close(): Promise<void> {
    set('pass');
    reset();
    await new Promise((resolve) => server.close(resolve));
  }

  return {
    port: typeof address === 'object' && address ? address.port : 0,
    counts,
    set,
    reset,
    close,
    [Symbol.asyncDispose]: close,
  };
}
