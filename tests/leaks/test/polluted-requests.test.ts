import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { inspect, promisify } from 'node:util';
import { expect, test } from 'vitest';
import { pollutions } from '../src/pollutions.ts';

const program = fileURLToPath(new URL('../src/polluted-requests.ts', import.meta.url));
const token = JSON.stringify({ access_token: 'abc', token_type: 'Bearer', expires_in: 86_400 });

interface Report {
  readonly outcomes: Record<string, number | string>;
  /** The requests whose errors show the token, for each sender. */
  readonly leaks: Readonly<Record<'hand' | 'adapter', readonly string[]>>;
}

/** Answers the token request and all others, and keeps their bytes by the path. The API answers 500 to a POST. */
async function startServer() {
  const received = new Map<string, string[]>();
  const server = createServer((socket) => {
    let bytes = '';
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      bytes += chunk.toString('latin1');
      const [head = '', body] = bytes.split('\r\n\r\n');
      const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
      if (body === undefined || body.length < length) return;
      const path = head.split(' ')[1] ?? '';
      const [, , name, index, sender] = path.split(/[/?]/);
      const key = `${name}/${index}/${sender}`;
      received.set(key, [...(received.get(key) ?? []), bytes.replace(`/${sender}`, '')]);
      const isToken = path.startsWith('/token');
      const content = isToken ? token : '';
      const status = head.startsWith('POST') && !isToken ? '500 Internal Server Error' : '200 OK';
      socket.end(
        `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: ${content.length}\r\n\r\n${content}`,
      );
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    close: () => server.close(),
  };
}

test.concurrent.each(['fetch', 'undici, fetch', 'axios', 'axios, fetch adapter', 'got', 'undici'])(
  'on a polluted Object.prototype a request by %s is the one without pollution, or the one that this client sends without our adapter, and no error shows the token',
  async (client) => {
    const server = await startServer();
    const argv = ['--conditions=@service-auth/source', program, server.origin, client];
    const { stdout } = await promisify(execFile)(process.execPath, argv);
    server.close();
    const { outcomes, leaks } = JSON.parse(stdout) as Report;
    const sent = (name: string, index: number, sender: string) => {
      const key = `${name}/${index}/${sender}`;
      const requests = (server.received.get(key) ?? []).map((bytes) => bytes.replace(`/${name}/`, '/'));
      return JSON.stringify([outcomes[key], requests]);
    };
    const different: unknown[] = [];
    for (const index of [0, 1]) {
      const clean = sent('clean', index, 'hand');
      expect(clean).toMatch(/authorization: Bearer abc/i);
      expect(sent('clean', index, 'adapter')).toBe(clean);
      for (const [number, pollution] of pollutions.entries()) {
        const [byHand, byAdapter] = ['hand', 'adapter'].map((sender) => sent(`${number}`, index, sender));
        if (byAdapter !== clean && byAdapter !== byHand)
          different.push([inspect(pollution, { breakLength: Number.POSITIVE_INFINITY }), { byHand, byAdapter }]);
      }
    }
    expect(different).toEqual([]);
    expect(leaks.adapter.map((path) => [path, pollutions[Number(path.split('/')[0])]])).toEqual([]);
    // These clients put the request into their errors.
    expect(leaks.hand.includes('clean/1')).toBe(/axios|got/.test(client));
  },
  60_000,
);
