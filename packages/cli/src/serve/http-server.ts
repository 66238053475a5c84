import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type Answer, refusal } from './answer.ts';
import type { Answerer } from './doors.ts';
import type { Forwarder } from './forward.ts';
import { loggablePath } from './forwarding.ts';
import { refusalOf } from './guards.ts';
import type { Log } from './log.ts';
import type { Entrance, RequestHead } from './request-head.ts';
import { type Door, type DoorName, doorOf } from './routes.ts';

const maxBodyBytes = 65_536;
const bodyWithinMs = 20_000;
// Longer than the forwarder waits for two answers of the API, and for a token between them.
const idleMs = 700_000;
/** A client that is slower with the head of its request loses the connection (Slowloris). */
export const headWithinMs = 10_000;

/** The connections of each server on which no whole head has arrived since the last answer. */
const silent = new WeakMap<Server, Set<Socket>>();

export interface HttpServerOptions {
  readonly entrance: Entrance;
  readonly log: Log;
  key(): string | undefined;
  isEnding(): boolean;
  readonly answer: Answerer;
  /** Undefined: there is no base URL, or this address does not forward. */
  readonly forwarder: Forwarder | undefined;
  /** Called once for each answer. `aborted`: the caller did not get the whole of it. */
  answered(door: DoorName | 'api', status: number | 'aborted'): void;
}

export function createHttpServer(options: HttpServerOptions): Server {
  const sockets = new Set<Socket>();
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    sockets.delete(request.socket);
    response.on('close', () => request.socket.destroyed || sockets.add(request.socket));
    void handle(request, response, options).catch(() => response.destroy());
  };
  const server = createServer(
    {
      headersTimeout: headWithinMs,
      // A forwarded body may take as long as bytes come.
      requestTimeout: 0,
      connectionsCheckingInterval: 2_000,
      keepAliveTimeout: 75_000,
      maxHeaderSize: 16_384,
      insecureHTTPParser: false,
    },
    listener,
  );
  // With a listener, Node leaves it to us whether the client may send the body.
  server.on('checkContinue', listener);
  silent.set(server, sockets);
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.timeout = idleMs;
  // The size of the head limits their number. By default Node drops surplus headers, and the guards
  // would not see them.
  server.maxHeadersCount = 0;
  server.on('connect', (_, socket) => refuseTunnel(socket as Socket));
  return server;
}

/** Ends the connections without a request. `isPatient`: unless a part of a head has arrived. */
export function dropSilent(server: Server, isPatient: boolean): void {
  for (const socket of silent.get(server) ?? []) if (!isPatient || socket.bytesRead === 0) socket.destroy();
}

/** Node hands the socket over, without listeners or a time limit, and forgets it. */
function refuseTunnel(socket: Socket): void {
  socket.on('error', () => {});
  socket.end('HTTP/1.1 501 Not Implemented\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  socket.destroySoon();
}

async function handle(request: IncomingMessage, response: ServerResponse, options: HttpServerOptions): Promise<void> {
  const startedAt = performance.now();
  const { method = '', url: target = '', rawHeaders } = request;
  const head = { method, target, rawHeaders };
  const door = doorOf(target, options.entrance);
  const gone = new AbortController();
  response.on('close', () => {
    const isWhole = response.writableFinished;
    if (!isWhole) gone.abort();
    // The head may have said that the connection stays open.
    if (options.isEnding()) request.socket.destroySoon();
    const status = isWhole ? response.statusCode : 'aborted';
    options.answered(door?.name ?? 'api', status);
    options.log.request(() => ({
      method,
      path: door?.path ?? loggablePath(target),
      status,
      durationMs: Math.round(performance.now() - startedAt),
    }));
  });
  try {
    const answer = await answerOf(request, response, head, door, gone.signal, options);
    if (answer && !gone.signal.aborted) send(response, request, answer, options.isEnding());
  } catch (error) {
    if (gone.signal.aborted || response.headersSent) return void response.destroy();
    const { name, code } = Object(error) as { name?: unknown; code?: unknown };
    options.log.write('warning', 'unexpected error', { name, code });
    send(response, request, refusal(500, 'server_error', 'An unexpected error of the server.'), true);
  }
}

const nothingThere = refusal(
  404,
  'not_found',
  'There is nothing at this path. Requests are forwarded to the API only if SERVICE_BASE_URL is set.',
);

/** Resolves with the answer. Undefined: the API answers. */
async function answerOf(
  request: IncomingMessage,
  response: ServerResponse,
  head: RequestHead,
  door: Door | undefined,
  signal: AbortSignal,
  { entrance, key, answer, forwarder, isEnding }: HttpServerOptions,
): Promise<Answer | undefined> {
  const refused = refusalOf(head, door, entrance, key());
  if (refused) return refused;
  if (!door) return forwarder ? forwarder.forward(request, response, { head, signal, isEnding }) : nothingThere;
  const isRead = door.method === 'GET' && head.method === 'HEAD';
  if (head.method !== door.method && !isRead) {
    return refusal(405, 'invalid_request', `The method must be ${door.method}.`, { allow: door.method });
  }
  if (request.headers.expect) response.writeContinue();
  const body = await bodyOf(request);
  if (body === undefined) return refusal(413, 'invalid_request', 'The body is too large.');
  return answer(door.name, { head, body, entrance, signal });
}

/** Reads the body. Undefined: it is too large. A slow client loses the connection. */
function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => request.destroy(), bodyWithinMs);
    request.on('close', () => clearTimeout(timer));
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBodyBytes) resolve(undefined);
      else chunks.push(chunk);
    });
    request.on('end', () => {
      clearTimeout(timer);
      resolve(Buffer.concat(chunks).toString());
    });
    request.on('error', reject);
  });
}

function send(response: ServerResponse, request: IncomingMessage, answer: Answer, isLast: boolean): void {
  const length = { 'content-length': Buffer.byteLength(answer.body) };
  // The rest of a body that nobody reads must not be taken for the next request.
  const isEnd = isLast || !request.complete;
  // The answer may replace one of the API that could not be written, and whose text Node still has.
  response.writeHead(answer.status, STATUS_CODES[answer.status], {
    ...answer.headers,
    ...(answer.status !== 204 && length),
    ...(isEnd && { connection: 'close' }),
  });
  response.end(answer.body);
}
