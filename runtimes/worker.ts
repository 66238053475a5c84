import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
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

/** Runs all cases in workerd. `script`: the bundled worker; `manifest`: that of miniflare. */
export async function runInWorker(manifest: string, script: string, control: string): Promise<Result[]> {
  const { Miniflare } = createRequire(manifest)('miniflare') as {
    Miniflare: new (options: object) => Miniflare;
  };
  // `cf: false`: no address of Cloudflare's is asked where it thinks we are.
  const options = { modules: true, compatibilityDate: '2026-07-01', cf: false, script };
  const miniflare = new Miniflare(options);
  async function ask(path: string, body: object = {}) {
    const response = await miniflare.dispatchFetch(`http://worker${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    assert.equal(response.status, 200, `${path}: ${response.status}`);
    return (await response.json()) as Record<string, unknown>;
  }
  try {
    const shared = (await ask('/cases', { control })) as unknown as Result[];
    const own: Result[] = [];
    for (const { name, run } of workerCases) {
      const problem = await run({ ask, control }).then(
        () => undefined,
        (error: Error) => error.stack,
      );
      own.push({ name, problem });
    }
    return [...shared, ...own];
  } finally {
    await miniflare.dispose();
  }
}
