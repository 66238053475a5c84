import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { startSocketServer } from './support/loopback.ts';

const program = fileURLToPath(new URL('support/polluted-program.ts', import.meta.url));
const anything = ['x', 1, true, {}, 'function'];

/** What would send the request elsewhere, or something else with it. */
const members: Readonly<Record<string, readonly unknown[]>> = {
  redirect: ['follow'],
  dispatcher: anything,
  headers: [{ 'x-evil': '1' }, [['x-evil', '1']]],
  method: ['PUT'],
  client: anything,
  'x-evil': ['1'],
  authorization: ['Basic x'],
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
});
