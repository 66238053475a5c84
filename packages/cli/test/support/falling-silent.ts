import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { onTestFinished } from 'vitest';

/** A server that answers so many times, and then accepts everything and never answers again. */
export interface FallingSilent {
  readonly port: number;
  /** The number of answers that came through. An answer is what arrived at once, so it may be several replies. */
  readonly answers: number;
  /** True if an answer did not come through. */
  readonly hasDropped: boolean;
}

/** Starts a relay to a port of 127.0.0.1 that carries a number of answers of all connections together. */
export async function startFallingSilent(target: number, maxAnswers: number): Promise<FallingSilent> {
  let answers = 0;
  let hasDropped = false;
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    for (const socket of [near, far]) socket.on('error', () => {});
    near.pipe(far);
    far.on('data', (chunk) => {
      if (answers >= maxAnswers) {
        hasDropped = true;
        return;
      }
      answers += 1;
      near.write(chunk);
    });
    near.on('close', () => far.destroy());
    onTestFinished(() => void near.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return {
    port,
    get answers() {
      return answers;
    },
    get hasDropped() {
      return hasDropped;
    },
  };
}
