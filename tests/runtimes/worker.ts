import assert from 'node:assert/strict';
import { startForeignOrigin, startTestService, type TestService } from '@service-auth/testing';
import { runContractInWorker, type WorkerAddress } from './contract-in-worker.ts';
import type { Control } from './control.ts';
import { startMiniflare } from './engines.ts';
import type { Result } from './suite/cases.ts';
import { startRemoteService } from './suite/service.ts';

/** One case that only workers have. */
interface WorkerCase {
  readonly name: string;
  run(worker: Worker): Promise<void>;
}

/** A worker that runs, and what its cases can ask. */
interface Worker extends WorkerAddress {
  /** A request of its own context. */
  ask(path: string, body?: object): Promise<Record<string, unknown>>;
}

// The aborted request is answered, and takes the token request that it began along; the next one waits until that one's lease ends.
const lostWithRequest = 'without waitUntil a token request ends with the request that began it';
const lostWithoutWaitUntil = {
  'an abort while waiting for a token ends the wait at once, and the token is not lost': lostWithRequest,
  'an abort while waiting for a token leaves other callers alone': lostWithRequest,
  'an abort while waiting for another token after a 401 ends the wait at once': lostWithRequest,
};

const minute = 60_000;
const hour = 60 * minute;

async function created({ ask, control }: Worker, alive: boolean) {
  const service = await startRemoteService(control.url);
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
    name: 'an abandoned request ends no other one: its token counts, and another one is issued when its lease ends',
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
    name: 'with waitUntil a token is renewed before its expiry, although no caller waits',
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

const redirectCases: readonly WorkerCase[] = [
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

/** The suites in workerd: core with the features of workers, or the fetch adapter. */
export type WorkerSuite = (worker: Worker) => Promise<Result[]>;

export const coreInWorker: WorkerSuite = async (worker) => [
  ...((await worker.ask('/cases', { control: worker.control.url })) as unknown as Result[]),
  ...(await outcomes(workerCases, worker)),
];

export const fetchInWorker: WorkerSuite = async (worker) => [
  ...(await outcomes(redirectCases, worker)),
  ...(await runContractInWorker(worker, { alive: true, asRequest: false })),
  ...(await runContractInWorker(worker, { alive: true, asRequest: true })),
];

export const fetchWithoutWaitUntil: WorkerSuite = (worker) =>
  runContractInWorker(worker, { alive: false, asRequest: false }, lostWithoutWaitUntil);

/** Runs a suite in a worker of its own. `script`: the bundled worker. */
export async function runInWorker(
  script: string,
  compatibilityDate: string,
  control: Control,
  suite: WorkerSuite,
): Promise<Result[]> {
  const miniflare = startMiniflare({ modules: true, compatibilityDate, script });
  try {
    const address = await miniflare.ready;
    return await suite({
      address,
      control,
      async ask(path, body = {}) {
        const response = await fetch(new URL(path, address), { method: 'POST', body: JSON.stringify(body) });
        assert.equal(response.status, 200, `${path}: ${response.status}`);
        return (await response.json()) as Record<string, unknown>;
      },
    });
  } finally {
    await miniflare.dispose();
  }
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
