import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { isNight } from '@service-auth/test-tools/night';
import { minute } from '@service-auth/test-tools/units';
import { expect, test } from 'vitest';

const asker = fileURLToPath(new URL('asker.ts', import.meta.url));
const leaseMs = minute;
/** A process sends its request so long after it reserved a token, or not at all. */
const sendWithinMs = 10_000;
/** Time runs so much faster in the processes and in their store: they wait for minutes. */
const speed = 20;
const deaths = isNight ? 4 : 2;

test('of processes that are killed while they ask each waits until the lease of the one before has ended, and then a healthy one has its token', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'service-auth-kills-'));
  const epoch = Date.now();
  const begunAt = performance.now();
  const now = () => (performance.now() - begunAt) * speed;
  const running = new Set<ChildProcess>();
  const issuedAt: number[] = [];
  const ends: NodeJS.Signals[] = [];
  let isHealthy = false;
  let started = 0;

  // The endpoint issues a token for each request, and whoever asked for it is dead before the answer.
  const endpoint = createServer(async (request, response) => {
    expect(JSON.parse(await text(request))).toMatchObject({ client_secret: 'secret' });
    issuedAt.push(now());
    if (!isHealthy) for (const child of running) child.kill('SIGKILL');
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ access_token: `token${issuedAt.length}`, token_type: 'Bearer', expires_in: 86_400 }));
  });
  endpoint.listen(0, '127.0.0.1');
  await once(endpoint, 'listening');
  const authUrl = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}`;

  /** Starts a process. Resolves with the token that it got, once it is gone. */
  async function start(patience: 'patient' | 'once'): Promise<string | undefined> {
    const child = fork(asker, [join(directory, 'store'), authUrl, `${epoch}`, `${speed}`, patience], {
      execArgv: ['--conditions=@service-auth/source'],
    });
    running.add(child);
    let token: string | undefined;
    child.on('message', (message: { token: string }) => {
      token = message.token;
    });
    const [code, signal] = await once(child, 'exit');
    running.delete(child);
    if (signal) ends.push(signal);
    else expect(code).toBe(0);
    return token;
  }

  try {
    while (issuedAt.length < deaths) {
      expect(await start('once')).toBeUndefined();
      started += 1;
    }
    const gaps = issuedAt.slice(1).map((at, index) => at - (issuedAt[index] ?? 0));
    isHealthy = true;
    expect(await start('patient')).toBe(`token${deaths + 1}`);
    const servedAt = now();

    expect(ends).toEqual(Array(deaths).fill('SIGKILL'));
    expect(started).toBeGreaterThanOrEqual(deaths);
    // The pauses count from the reservation, and the first ones are shorter than a lease.
    for (const gap of gaps) expect(gap).toBeGreaterThan(leaseMs - sendWithinMs);
    const waitedMs = servedAt - (issuedAt[deaths - 1] ?? 0);
    expect(waitedMs).toBeGreaterThan(leaseMs - sendWithinMs);
    expect(waitedMs).toBeLessThan(120 * minute);
  } finally {
    for (const child of running) child.kill('SIGKILL');
    endpoint.closeAllConnections();
    endpoint.close();
    await rm(directory, { recursive: true });
  }
}, 180_000);
