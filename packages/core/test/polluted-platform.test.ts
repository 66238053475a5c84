import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { fetchTransport } from '../src/index.ts';
import { startSocketServer } from './support/loopback.ts';

const program = fileURLToPath(new URL('support/polluted-program.ts', import.meta.url));
const anything = ['x', 1, true, {}, 'function'];

/** All that the functions of the platform read of the objects that we give them, and what would change the request. */
const members: Readonly<Record<string, readonly unknown[]>> = {
  // fetch
  mode: ['no-cors', 'same-origin', 'navigate'],
  integrity: ['sha256-AAAA'],
  referrer: ['https://evil.example/?x', 'x'],
  referrerPolicy: ['unsafe-url', 'x'],
  credentials: ['omit', 'include'],
  cache: ['only-if-cached', 'no-store', 'force-cache'],
  keepalive: [true],
  redirect: ['follow'],
  duplex: anything,
  dispatcher: anything,
  headers: [{ 'x-evil': '1' }, [['x-evil', '1']]],
  method: ['PUT'],
  window: anything,
  priority: anything,
  client: anything,
  next: [{ revalidate: 1 }],
  'x-evil': ['1'],
  authorization: ['Basic x'],
  // addEventListener
  once: [false, ...anything],
  passive: anything,
  capture: anything,
  // TextDecoder
  stream: anything,
  fatal: anything,
  ignoreBOM: anything,
  // WebCrypto
  name: ['SHA-1', 'AES-CBC'],
  hash: ['SHA-1', { name: 'SHA-1' }],
  salt: anything,
  info: anything,
  length: [128, 'x'],
  iv: anything,
  additionalData: anything,
  tagLength: [32, 'x'],
  namedCurve: ['P-256'],
  public: anything,
  iterations: [1],
};

const child = fork(program, { execArgv: ['--conditions=@service-auth/source'] });
const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`The program ended with ${code}.`)));
ended.catch(() => {});
afterAll(() => child.disconnect());

async function run(url: string, name: string, values: readonly unknown[]): Promise<unknown[]> {
  child.send({ authUrl: new URL(url).origin, name, values });
  const [results] = await Promise.race([once(child, 'message'), ended]);
  return results;
}

const body = '{"access_token":"abc","token_type":"Bearer","expires_in":86400}';

async function startEndpoint() {
  const received: string[] = [];
  const { url } = await startSocketServer((socket, request) => {
    received.push(request);
    socket.end(
      `HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
  });
  return { url, received };
}

describe('on a polluted Object.prototype', () => {
  test.for(Object.entries(members))('%s changes no byte of the token request and no token', async ([name, values]) => {
    const { url, received } = await startEndpoint();
    expect(await run(url, name, values)).toEqual(['clean', ...values].map(() => ['abc', 'abc', 1]));
    expect(received).toEqual(Array.from({ length: values.length + 1 }, () => received[0]));
  });

  // Node itself reads these two of objects of its own, so there no request of anybody works.
  test.for(['body', 'signal'])('%s fails the request, as it does each fetch of Node', async (name) => {
    const { url } = await startEndpoint();
    const [, result] = await run(url, name, ['x']);
    expect(result).toMatch(/^ERR_TOKEN_ENDPOINT/);
  });
});

test('a fetch that copies its init is given what the prototype would add', async () => {
  const inits: object[] = [];
  const send = fetchTransport({
    fetch: async (_, init) => {
      inits.push({ ...init });
      return new Response('{}');
    },
  });
  const request = { url: 'https://auth.example.com/', method: 'POST', headers: {}, body: '' } as const;
  Object.defineProperty(Object.prototype, 'mode', { value: 'no-cors', configurable: true });
  try {
    await send({ ...request, signal: new AbortController().signal });
  } finally {
    Reflect.deleteProperty(Object.prototype, 'mode');
  }
  expect(inits).toEqual([expect.objectContaining({ method: 'POST', mode: 'cors', redirect: 'manual' })]);
});
