import { Agent, createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { hideAgentRequests, hideProperty } from '../../src/http/hide.ts';

test('a hidden property is kept, and no longer printed', () => {
  const part = { secret: 's', other: 1 };
  hideProperty(part, 'secret');
  expect(JSON.stringify(part)).toBe('{"other":1}');
  expect(part.secret).toBe('s');
});

test.each([undefined, null, 'text', Object.freeze({ secret: 's' }), {}])(
  'hiding a property of %s throws nothing',
  (part) => hideProperty(part, 'secret'),
);

test('the property of a prototype is left alone', () => {
  const prototype = { secret: 's' };
  hideProperty(Object.create(prototype), 'secret');
  expect(Object.keys(prototype)).toEqual(['secret']);
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
