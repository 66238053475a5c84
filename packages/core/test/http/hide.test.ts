import { Agent, createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { hideAgentRequests } from '../../src/http/index.ts';

test.each([undefined, null, 'text', Object.freeze({ sockets: 's' }), {}])('%s is left as it is', (agent) => {
  const before = JSON.stringify(agent);
  hideAgentRequests(agent);
  expect(JSON.stringify(agent)).toBe(before);
});

test('the property of a prototype is left alone', () => {
  const prototype = { sockets: 's' };
  hideAgentRequests(Object.create(prototype));
  expect(Object.keys(prototype)).toEqual(['sockets']);
});

test('a printed agent shows neither the requests that it sends nor those that wait in its queue', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const agent = new Agent({ maxSockets: 1, keepAlive: true });
  const { port } = server.address() as AddressInfo;
  const requests = ['sent', 'queued'].map((token) =>
    get({ port, host: '127.0.0.1', agent, headers: { authorization: `Bearer ${token}` } }).on('error', () => {}),
  );
  const printed = () => new Set(inspect(agent, { depth: Number.POSITIVE_INFINITY }).match(/Bearer \w+/g));
  expect(printed()).toEqual(new Set(['Bearer sent', 'Bearer queued']));
  hideAgentRequests(agent);
  expect(printed()).toEqual(new Set());
  for (const request of requests) request.destroy();
  agent.destroy();
  await new Promise((resolve) => server.close(resolve));
});
