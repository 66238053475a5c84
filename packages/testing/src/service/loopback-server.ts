import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '@service-auth/core';
import { type ReceivedRequest, receive } from './received-request.ts';
import type { Choice, ScriptedAnswer } from './script.ts';

/** The answer that the service gives without a script. */
export interface OwnAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The handling of one request: the script's choice, then the service's own answer. */
export interface Exchange {
  readonly choice: Choice<ScriptedAnswer>;
  /** Handles the request. Called once, unless the connection is cut before. */
  handle(): Promise<OwnAnswer>;
}

export interface LoopbackServer {
  /** `http://127.0.0.1:port`, without a slash at the end. */
  readonly url: string;
  /** The number of open connections. */
  readonly connections: number;
  /**
   * Destroys every connection and cancels every delay. Rejects with the error of a scripted
   * function, if one threw.
   */
  close(): Promise<void>;
}

/** The handling of a request for which no script exists. */
export function unscripted(own: OwnAnswer): Exchange {
  return { choice: { answer: {}, pause: async () => {} }, handle: async () => own };
}

export function jsonAnswer(status: number, value: unknown, headers: Record<string, string> = {}): OwnAnswer {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(value) };
}

/**
 * Starts a server on a free port of 127.0.0.1. `exchange` chooses the handling of each request.
 * `onActivity` is called when a request has arrived and when it was handled.
 */
export async function startLoopbackServer(
  clock: Clock,
  exchange: (request: ReceivedRequest) => Promise<Exchange>,
  onActivity: () => void,
  port = 0,
): Promise<LoopbackServer> {
  const cancelTimers = new Set<() => void>();
  const failures: unknown[] = [];

  function delay(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = clock.setTimer(
        () => {
          cancelTimers.delete(cancel);
          resolve();
        },
        ms,
        { background: true },
      );
      cancelTimers.add(cancel);
    });
  }

  function send(response: ServerResponse, own: OwnAnswer, scripted: ScriptedAnswer): void {
    const content = scripted.body ?? own.body;
    const body = typeof content === 'string' ? Buffer.from(content) : content;
    const status = scripted.status ?? own.status;
    response.statusCode = status;
    response.sendDate = false;
    // The date comes from the service's clock, because clients compare an absolute Retry-After with
    // it.
    response.setHeader('date', new Date(clock.now()).toUTCString());
    response.setHeader('content-length', body.length);
    for (const [name, value] of Object.entries({ ...own.headers, ...scripted.headers })) {
      if (value === undefined) response.removeHeader(name);
      else response.setHeader(name, value);
    }
    // RFC 9110 section 6.4.1: these answers have no content, so a length would announce bytes that
    // never arrive.
    if (status === 204 || status === 304) response.removeHeader('content-length');
    response.flushHeaders();
    if (scripted.cut === 'body') {
      response.write(body.subarray(0, Math.floor(body.length / 2)), () => response.destroy());
    } else response.end(body);
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { choice, handle } = await exchange(await receive(request, clock));
    onActivity();
    const { answer, pause } = choice;
    const wait = async () => {
      await pause();
      if (answer.delayMs !== undefined) await delay(answer.delayMs);
    };
    if (answer.waitBefore === 'handling') await wait();
    if (answer.cut === 'request') {
      request.socket.resetAndDestroy();
      return;
    }
    const own = await handle();
    onActivity();
    if (answer.waitBefore !== 'handling') await wait();
    if (answer.cut === 'answer') request.socket.destroy();
    else send(response, own, answer);
  }

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      request.socket.destroy();
      // The client closed the connection during its request. Any other error is a mistake in a
      // scripted answer.
      if (request.complete) failures.push(error);
    });
  });
  let connections = 0;
  server.on('connection', (socket) => {
    connections++;
    socket.once('close', () => connections--);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  // A time-out of idle connections would use the real clock and race with the next request of a
  // slow test.
  server.keepAliveTimeout = 0;

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get connections() {
      return connections;
    },
    async close() {
      for (const cancel of cancelTimers) cancel();
      cancelTimers.clear();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      if (failures.length > 0) throw failures[0];
    },
  };
}
