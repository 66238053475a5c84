// The forms of the address of a store, over real servers: clusters, Sentinels and TLS.
import { once } from 'node:events';
import { chmodSync, chownSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { secretCanary, sightings } from '@service-auth/test-tools/canaries';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { ordinaryUser, startPostgres } from '@service-auth/test-tools/servers/postgres';
import { startRedis, startSentinel } from '@service-auth/test-tools/servers/redis';
import { startRedisCluster } from '@service-auth/test-tools/servers/redis-cluster';
import { freePort } from '@service-auth/test-tools/servers/server';
import pg from 'pg';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { openPostgresStore } from '../src/stores/postgres.ts';
import { parseRedisAddress } from '../src/stores/redis-address.ts';
import { connectRedis } from '../src/stores/redis-connection.ts';
import { copyCertificate } from './support/certificate.ts';
import { manyProcesses, run } from './support/program.ts';
import { postgres, redis, startCanaryService, variablesOf } from './support/world.ts';

const nodes = await orSkip(startRedisCluster);
afterAll(() => Promise.all((nodes ?? []).map((node) => node.stop())));

describe.runIf(nodes)('a Redis Cluster', () => {
  const ports = (nodes ?? []).map(({ port }) => port);

  test('is reached by the address of any of its nodes, or of several', manyProcesses, async () => {
    const service = await startCanaryService();
    const several = `redis://127.0.0.1:${await freePort()},${ports.map((port) => `127.0.0.1:${port}`).join(',')}`;
    const addresses = [...ports.map((port) => `redis://127.0.0.1:${port}`), several];
    for (const address of addresses) {
      const env = variablesOf(service, address);
      expect(await run(['token'], { env })).toMatchObject({ code: 0, stderr: '' });
      expect(await run(['check'], { env })).toMatchObject({ code: 0, stdout: expect.stringContaining('|used=1;') });
    }
    expect(service.counts.issued).toBe(1);
    const { code, stdout } = await run(['doctor'], { env: variablesOf(service, several) });
    expect(stdout).toContain('it is a cluster of 3 primary servers');
    expect(stdout).toContain('no other prefix has a record of this client');
    expect(code).toBe(0);
  });

  test('shows a record of another prefix, whatever node has it', manyProcesses, async () => {
    const service = await startCanaryService();
    const [port] = ports;
    for (const prefix of ['a:', 'b:', 'c:']) {
      await run(['token'], { env: variablesOf(service, `redis://127.0.0.1:${port}?prefix=${prefix}`) });
    }
    const env = { ...variablesOf(service, `redis://127.0.0.1:${port},127.0.0.1:${port}`), COLUMNS: '120' };
    for (const command of ['doctor', 'explain']) {
      const { code, stdout } = await run([command], { env });
      expect(code).toBe(0);
      for (const prefix of ['a:', 'b:', 'c:']) expect(stdout).toContain(`"${prefix}"`);
    }
  });

  test('has no database but 0', async () => {
    const service = await startCanaryService();
    const outcome = await run(['token'], { env: variablesOf(service, `redis://127.0.0.1:${ports[0]}/1`) });
    expect(outcome).toMatchObject({ code: 69, stderr: expect.stringContaining('a cluster has only 0') });
  });
});

test('the label of an address of PostgreSQL names a table of its own, but no credentials', () => {
  const labelOf = (address: string) => openPostgresStore(new URL(address), { writes: false }).label;
  expect(labelOf('postgres://user:password@db.example/app')).toBe('postgres://db.example/app');
  expect(labelOf('postgres://db.example/app?table=own')).toBe('postgres://db.example/app (table own)');
});

test.runIf(postgres)('a connection that PostgreSQL ends while nobody uses it is replaced', async () => {
  const url = new URL(postgres?.url ?? '');
  const { store } = openPostgresStore(new URL(`${url}?table=of_ended&application_name=ended`), { writes: true });
  const change = { version: '1', record: 'record' };
  // Creates the table.
  await store.load('key');
  expect(await store.swap('key', change)).toMatchObject({ swapped: true });
  const administrator = new pg.Client(url.href);
  await administrator.connect();
  const terminate = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'ended'";
  await expect.poll(async () => (await administrator.query(terminate)).rowCount).toBe(0);
  await administrator.end();
  expect(await store.load('key')).toMatchObject({ record: 'record' });
});

test('a connection that has ended before it was begun is not opened', async () => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const ended = AbortSignal.abort();
  const members = [`127.0.0.1:${port}`, `127.0.0.1:${port},127.0.0.1:${port}`];
  for (const hosts of members) {
    await expect(connectRedis(parseRedisAddress(`redis://${hosts}`), ended)).rejects.toThrow('connection failed');
  }
  expect(connections).toBe(0);
});

describe.runIf(redis)('Sentinels', () => {
  async function watchedServers(settings: Readonly<Record<string, string>> = {}) {
    const primary = await startRedis(settings);
    onTestFinished(() => primary.stop());
    const sentinel = await startSentinel(primary);
    onTestFinished(() => sentinel.stop());
    return { primary, sentinel };
  }

  test('name the primary server; one of them that is gone does not matter', manyProcesses, async () => {
    const service = await startCanaryService();
    const { primary, sentinel } = await watchedServers();
    const env = variablesOf(
      service,
      `redis://127.0.0.1:${await freePort()},127.0.0.1:${sentinel.port}/0?sentinel=master&prefix=x:`,
    );
    expect(await run(['token'], { env })).toMatchObject({ code: 0, stderr: '' });
    expect(await run(['usage'], { env })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('sentinel master'),
    });
    const direct = variablesOf(service, `redis://127.0.0.1:${primary.port}?prefix=x:`);
    expect((await run(['check'], { env: direct })).stdout).toContain('|used=1;');
  });

  test('that do not know the name, or are none, are told', manyProcesses, async () => {
    const service = await startCanaryService();
    const { primary, sentinel } = await watchedServers();
    const outcomeOf = (port: number, name: string) =>
      run(['usage'], { env: variablesOf(service, `redis://127.0.0.1:${port}?sentinel=${name}`) });
    expect(await outcomeOf(sentinel.port, 'other')).toMatchObject({
      code: 69,
      stderr: expect.stringContaining("don't know a primary server named other"),
    });
    expect(await outcomeOf(primary.port, 'master')).toMatchObject({
      code: 69,
      stderr: expect.stringContaining('is no Sentinel'),
    });
  });

  test('get the password only if they ask for one', async () => {
    const service = await startCanaryService();
    const { sentinel } = await watchedServers({ requirepass: 'redis-password' });
    const address = `redis://:redis-password@127.0.0.1:${sentinel.port}?sentinel=master`;
    expect(await run(['token'], { env: variablesOf(service, address) })).toMatchObject({ code: 0, stderr: '' });
  });
});

describe.runIf(redis && postgres)('a store with TLS', () => {
  test('is reached in Redis with the certificate of the authority, and not without it', manyProcesses, async () => {
    const service = await startCanaryService();
    const { ca, cert, key } = copyCertificate();
    const port = await freePort();
    const tls = { 'tls-port': `${port}`, 'tls-cert-file': cert, 'tls-key-file': key, 'tls-ca-cert-file': ca };
    const server = await startRedis({ ...tls, requirepass: secretCanary });
    onTestFinished(() => server.stop());
    const address = `rediss://:${secretCanary}@localhost:${port}`;
    const whole = variablesOf(service, `${address}?ca=${ca}&cert=${cert}&key=${key}`);
    expect(await run(['token'], { env: whole })).toMatchObject({ code: 0, stderr: '' });
    expect((await run(['doctor'], { env: whole })).code).toBe(0);
    for (const wrong of [
      `${address}?cert=${cert}&key=${key}`,
      `${address.replace('localhost', '127.0.0.1')}?ca=${ca}`,
    ]) {
      const outcome = await run(['token'], { env: variablesOf(service, wrong) });
      expect(outcome).toMatchObject({ code: 69, stdout: '', stderr: expect.stringContaining('certificate') });
      expect(sightings(outcome.stderr)).toEqual([]);
    }
    expect(service.counts.issued).toBe(1);
  });

  test('is reached in PostgreSQL by every sslmode that checks the certificate', manyProcesses, async () => {
    const service = await startCanaryService();
    const { ca, cert, key, folder } = copyCertificate();
    chmodSync(folder, 0o755);
    if (process.getuid?.() === 0) {
      const { uid, gid } = await ordinaryUser();
      chownSync(key, uid, gid);
    }
    const server = await startPostgres({ ssl: 'on', ssl_cert_file: cert, ssl_key_file: key });
    onTestFinished(() => server.stop());
    const address = `postgres://test@localhost:${server.port}/postgres`;
    for (const mode of ['require', 'verify-ca', 'verify-full']) {
      const env = variablesOf(service, `${address}?sslmode=${mode}&sslrootcert=${ca}`);
      expect(await run(['token'], { env })).toMatchObject({ code: 0, stderr: '' });
      const unknown = await run(['token'], { env: variablesOf(service, `${address}?sslmode=${mode}`) });
      expect(unknown).toMatchObject({ code: 69, stderr: expect.stringContaining('certificate') });
    }
    const gone = await run(['token'], { env: variablesOf(service, `${address}?sslrootcert=/nowhere.pem`) });
    expect(gone).toMatchObject({ code: 2, stderr: expect.stringContaining('/nowhere.pem') });
    expect(service.counts.issued).toBe(1);
  });
});
