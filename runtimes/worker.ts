import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { startForeignOrigin, startTestService, type TestService } from '@service-auth/testing';
import type { Result } from './suite/cases.ts';
import { startRemoteService } from './suite/service.ts';

interface Miniflare {
  dispatchFetch(url: string, init: { method: string; body: string }): Promise<Response>;
  dispose(): Promise<void>;
}

/** One case that only workers have. */
interface WorkerCase {
  readonly name: string;
  run(worker: Worker): Promise<void>;
}

interface Worker {
  /** A request of its own context. */
  ask(path: string, body?: object): Promise<Record<string, unknown>>;
  readonly control: string;
}

const minute = 60_000;
const hour = 60 * minute;

async function created({ ask, control }: Worker, alive: boolean) {
  const service = await startRemoteService(control);
  await ask('/create', { options: service.options, alive });
  return service;
}

const workerCases: readonly WorkerCase[] = [
  {
    name: 'a client is created at the level of the module',
    async run({ ask }) {
      assert.deepEqual(await ask('/early'), { used: 0, covers: true });
    },
  },
  ...[true, false].map((alive) => ({
    name: `twenty requests at once cost one token request, ${alive ? 'with' : 'without'} waitUntil`,
    async run(worker: Worker) {
      const service = await created(worker, alive);
      await service.next({ delayMs: 200 });
      const tokens = await Promise.all(Array.from({ length: 20 }, () => worker.ask('/token')));
      assert.equal(new Set(tokens.map(({ id }) => id)).size, 1);
      assert.equal((await service.counts()).tokenRequests, 1);
    },
  })),
  {
    name: 'a request that leaves takes nobody with it: the token it asked for counts, and another one is had when its lease ends',
    async run(worker) {
      const service = await created(worker, false);
      await service.next({ delayMs: 500 });
      await worker.ask('/leave');
      const waiting = worker.ask('/token');
      await worker.ask('/shift', { ms: 2 * minute });
      assert.match(String((await waiting)['id']), /^[\w-]{12}$/);
      assert.deepEqual(await worker.ask('/usage'), { used: 2, pending: 1 });
      assert.equal((await service.counts()).tokenRequests, 2);
    },
  },
  {
    name: 'with waitUntil the token is kept that a request asked for before it left',
    async run(worker) {
      const service = await created(worker, true);
      await service.next({ delayMs: 200 });
      await worker.ask('/leave');
      assert.match(String((await worker.ask('/token'))['id']), /^[\w-]{12}$/);
      assert.deepEqual(await worker.ask('/usage'), { used: 1, pending: 0 });
      assert.equal((await service.counts()).tokenRequests, 1);
    },
  },
  {
    name: 'with waitUntil a token is renewed ahead of its expiry, though nobody waits',
    async run(worker) {
      const service = await created(worker, true);
      const { id } = await worker.ask('/token');
      await worker.ask('/shift', { ms: 22 * hour });
      await service.next({ delayMs: 100 });
      assert.equal((await worker.ask('/token'))['id'], id);
      assert.equal((await worker.ask('/token'))['id'], id);
      for (const startedAt = Date.now(); (await worker.ask('/token'))['id'] === id; ) {
        assert.ok(Date.now() - startedAt < 5_000, 'no renewal');
      }
      assert.deepEqual(await worker.ask('/usage'), { used: 2, pending: 0 });
    },
  },
  {
    name: 'without waitUntil a token is renewed when it ends, by a caller that waits',
    async run(worker) {
      const service = await created(worker, false);
      const { id } = await worker.ask('/token');
      await worker.ask('/shift', { ms: 22 * hour });
      assert.equal((await worker.ask('/token'))['id'], id);
      assert.equal((await worker.ask('/token'))['id'], id);
      await worker.ask('/shift', { ms: 2 * hour });
      assert.notEqual((await worker.ask('/token'))['id'], id);
      assert.equal((await service.counts()).tokenRequests, 2);
    },
  },
];

const fetchCases: readonly WorkerCase[] = [
  {
    name: 'the fetch adapter sends the token, and another one after a 401',
    async run({ ask }) {
      const service = await startTestService();
      await ask('/create', { options: optionsOf(service), alive: true });
      assert.equal((await ask('/fetch', { options: optionsOf(service) }))['status'], 200);
      service.revoke('all');
      assert.equal((await ask('/fetch', { options: optionsOf(service) }))['status'], 200);
      assert.deepEqual([service.counts.issued, service.counts.apiUnauthorized], [2, 1]);
      await service.close();
    },
  },
  ...[true, false].map((asRequest) => ({
    name: `the fetch adapter takes the token to no other origin along a redirect of a ${asRequest ? 'Request' : 'string'}`,
    async run({ ask }: Worker) {
      const service = await startTestService();
      const foreign = await startForeignOrigin();
      service.api.always({ status: 303, headers: { location: foreign.url } });
      await ask('/create', { options: optionsOf(service), alive: true });
      const { status } = await ask('/fetch', { options: optionsOf(service), asRequest });
      assert.deepEqual([status, foreign.requests.length], [200, 1]);
      assert.deepEqual(service.findSecrets(foreign.received), []);
      await Promise.all([service.close(), foreign.close()]);
    },
  })),
];

function optionsOf({ authUrl, baseUrl, credentials }: TestService) {
  return { authUrl, baseUrl, ...credentials };
}

/** Runs all cases in workerd. `script`: the bundled worker; `manifest`: that of miniflare. */
export async function runInWorker(manifest: string, script: string, control: string): Promise<Result[]> {
  const { Miniflare } = createRequire(manifest)('miniflare') as {
    Miniflare: new (options: object) => Miniflare;
  };
  async function inWorker(compatibilityDate: string, use: (worker: Worker) => Promise<Result[]>): Promise<Result[]> {
    // `cf: false`: no address of Cloudflare's is asked where it thinks we are.
    const miniflare = new Miniflare({ modules: true, compatibilityDate, cf: false, script });
    async function ask(path: string, body: object = {}) {
      const init = { method: 'POST', body: JSON.stringify(body) };
      const response = await miniflare.dispatchFetch(`http://worker${path}`, init);
      assert.equal(response.status, 200, `${path}: ${response.status}`);
      return (await response.json()) as Record<string, unknown>;
    }
    try {
      return await use({ ask, control });
    } finally {
      await miniflare.dispose();
    }
  }
  const newest = await inWorker('2026-07-01', async (worker) => [
    ...((await worker.ask('/cases', { control })) as unknown as Result[]),
    ...(await outcomes(workerCases, worker)),
    ...(await outcomes(fetchCases, worker)),
  ]);
  // Until September 2025 fetch took credentials along to other origins.
  const older = await inWorker('2025-07-01', (worker) => outcomes(fetchCases, worker));
  return [...newest, ...older];
}

async function outcomes(cases: readonly WorkerCase[], worker: Worker): Promise<Result[]> {
  const results: Result[] = [];
  for (const { name, run } of cases) {
    const problem = await run(worker).then(
      () => undefined,
      (error: Error) => error.stack,
    );
    results.push({ name, problem });
  }
  return results;
}
