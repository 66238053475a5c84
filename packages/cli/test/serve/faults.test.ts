// Faults of callers, of the API, of the store and of the program itself: nothing stays behind, and nothing is issued twice.
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { createServiceAuth, memoryStore, type Store } from '@service-auth/core';
import { startService } from '@service-auth/test-support/service';
import { secretCanary, sightings, tokenCanary } from '@service-auth/test-tools/canaries';
import { isNight } from '@service-auth/test-tools/night';
import { hour, minute } from '@service-auth/test-tools/units';
import { createTestClock } from '@service-auth/testing';
import { expect, onTestFinished, test } from 'vitest';
import { keepToken } from '../../src/serve/kept-token.ts';
import { passing } from '../support/passing.ts';
import { emptyFolder, manyProcesses, type Running } from '../support/program.ts';
import { send, startServing } from '../support/serving.ts';
import { startUpstream } from '../support/upstream.ts';
import { startCanaryService, stores } from '../support/world.ts';

const marked = { 'service-auth': 'true' };
const slowly = { timeout: 120_000 };
const [starts, rounds] = isNight ? [4, 5] : [2, 2];

const descriptorsOf = ({ pid }: Running): number => readdirSync(`/proc/${pid}/fd`).length;
const megabytesOf = ({ pid }: Running): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;

function get(url: string, path: string, agent: Agent | false = false) {
  const { hostname, port } = new URL(url);
  const outgoing = request({ hostname, port, path, headers: marked, agent });
  outgoing.on('error', () => {});
  outgoing.end();
  return outgoing;
}

test.for(stores)(
  'a program that is killed and started again goes on with its token, over $name',
  manyProcesses,
  async ({ address }) => {
    const service = await startCanaryService();
    const env = { SERVICE_AUTH_STORE: address() };
    const tokens = new Set<string>();
    for (let start = 0; start < starts; start += 1) {
      const { running, token } = await startServing({ service, env });
      const answers = await Promise.all(Array.from({ length: 20 }, () => token()));
      for (const { body } of answers) tokens.add(JSON.parse(body).access_token);
      running.kill('SIGKILL');
      await running.outcome;
    }
    expect(tokens.size).toBe(1);
    expect(service.counts.issued).toBe(1);
  },
);

test('a thousand connections that stay open are all served, and leave no descriptor behind', slowly, async () => {
  const api = await startUpstream((_, response) => response.end('answer'));
  const { url, running, service } = await startServing({ env: { SERVICE_BASE_URL: api } });
  await send(url, '/x', { headers: marked });
  const before = descriptorsOf(running);
  const agent = new Agent({ keepAlive: true, maxSockets: 1_000, maxFreeSockets: 1_000 });
  for (let round = 0; round < 2; round += 1) {
    const statuses = await Promise.all(
      Array.from({ length: 1_000 }, async () => {
        const [answer] = (await once(get(url, '/x', agent), 'response')) as [IncomingMessage];
        await once(answer.resume(), 'end');
        return answer.statusCode;
      }),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
  }
  expect(descriptorsOf(running)).toBeGreaterThanOrEqual(before + 1_000);
  agent.destroy();
  // The pool keeps connections to the API for some seconds.
  await expect.poll(() => descriptorsOf(running), { timeout: 30_000, interval: 200 }).toBeLessThanOrEqual(before + 10);
  expect(service.counts.issued).toBe(1);
});

test('hundreds of callers that are gone in the middle of an answer leave nothing behind', slowly, async () => {
  let open = 0;
  const chunk = Buffer.alloc(16_384);
  const api = await startUpstream((_, response) => {
    open += 1;
    response.on('close', () => (open -= 1));
    const more = () => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on('drain', more);
    more();
  });
  const { url, running } = await startServing({ env: { SERVICE_BASE_URL: api } });
  const before = descriptorsOf(running);
  for (let round = 0; round < rounds; round += 1) {
    const outgoing = Array.from({ length: 60 }, () => get(url, '/x'));
    await Promise.all(outgoing.map((each) => once(each, 'response')));
    for (const each of outgoing) each.destroy();
  }
  await expect.poll(() => open, { timeout: 30_000 }).toBe(0);
  await expect.poll(() => descriptorsOf(running), { timeout: 30_000 }).toBeLessThanOrEqual(before + 10);
  expect(await send(url, '/liveness')).toMatchObject({ status: 200 });
});

test('a stream of half a gigabyte is not kept in memory', { timeout: 300_000 }, async () => {
  const chunk = Buffer.alloc(65_536);
  const api = await startUpstream((request, response) => {
    let left = Number(request.url?.slice(1));
    const more = () => {
      for (let isFree = true; isFree && left > 0; left -= chunk.length) isFree = response.write(chunk);
      if (left <= 0) response.end();
    };
    response.on('drain', more);
    more();
  });
  const { url, running } = await startServing({ env: { SERVICE_BASE_URL: api } });

  async function peakOf(bytes: number): Promise<number> {
    const [answer] = (await once(get(url, `/${bytes}`), 'response')) as [IncomingMessage];
    let size = 0;
    let peak = 0;
    for await (const part of answer) {
      const before = size >> 20;
      size += part.length;
      // Reading the figure once in a mebibyte does not slow the stream down.
      if (size >> 20 > before) peak = Math.max(peak, megabytesOf(running));
    }
    expect(size).toBe(bytes);
    return peak;
  }
  const eighth = await peakOf(2 ** 26);
  // When the memory of what was sent is freed is up to Node. A program that kept the body would need all of it.
  expect(await peakOf(2 ** 29)).toBeLessThan(eighth + 256);
});

// Thirty hours in steps of ten seconds take a while on a busy machine.
test.for(['the store', 'the token endpoint'])(
  'while %s is away for an hour, callers keep the token',
  slowly,
  async (what) => {
    const clock = createTestClock();
    const service = await startService({ clock });
    const inner: Store = { ...memoryStore({ clock }), durability: 'durable' };
    let isAway = false;
    const failing = async () => {
      throw new Error('the store is away');
    };
    const store: Store = {
      ...inner,
      load: (key) => (isAway ? failing() : inner.load(key)),
      swap: (key, change) => (isAway ? failing() : inner.swap(key, change)),
    };
    const auth = createServiceAuth({ ...service.options, store });
    const kept = keepToken(auth, clock);
    onTestFinished(async () => {
      kept.stop();
      await auth.close();
    });
    const pass = passing(auth, clock, 10_000);
    kept.start();
    await kept.tried;
    const { token } = await kept.get();
    const leave = (away: boolean) => {
      if (what === 'the store') isAway = away;
      else if (away) service.tokenEndpoint.always({ status: 503 });
      else service.tokenEndpoint.clear();
    };
    // The outage begins before the renewal is due, and ends before the token does.
    await pass(22.5 * hour - 2 * hour);
    leave(true);
    for (let round = 0; round < 6; round += 1) {
      await pass(10 * minute);
      expect((await kept.get()).leftMs).toBeGreaterThan(hour);
      expect(kept.isRefused()).toBe(false);
    }
    leave(false);
    await pass(5 * hour);
    const next = await kept.get();
    expect(next.token.id).not.toBe(token.id);
    expect(next.leftMs).toBeGreaterThan(hour);
    expect(service.counts.issued).toBe(2);
  },
);

test('no output shows a secret or a token, however a forwarded request ends', async () => {
  const service = await startCanaryService();
  service.tokenEndpoint.always({ fields: { access_token: `${tokenCanary}.x.y` } });
  let seen: string | undefined;
  const api = await startUpstream((incoming, response) => {
    seen = incoming.headers.authorization;
    if (incoming.url?.startsWith('/die')) response.destroy();
    else response.writeHead(Number(incoming.url?.slice(1, 4)) || 200).end();
  });
  const env = { SERVICE_BASE_URL: api, SERVICE_AUTH_STORE: `file:${emptyFolder()}` };
  const { url, running } = await startServing({ service, env, args: ['--log', 'json'] });
  const answers: string[] = [];
  for (const path of ['/200', '/401', '/500', '/die', `/200?${secretCanary}`, `/200/${tokenCanary}`, '/../..']) {
    answers.push(JSON.stringify(await send(url, path, { headers: marked })));
  }
  expect(seen).toBe(`Bearer ${tokenCanary}.x.y`);
  running.kill('SIGTERM');
  const { stdout, stderr, code } = await running.outcome;
  expect(code).toBe(0);
  expect(stderr).toContain('"path":"/*/*"');
  for (const text of [stdout, stderr, ...answers]) expect(sightings(text)).toEqual([]);
});
