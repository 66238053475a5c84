import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceAuth, StoreChange } from '@service-auth/core';
import { type ConnectHttpClient, type HttpClientBody, httpClientContract, type TestClock } from '@service-auth/testing';
import type { Control } from './control.ts';
import type { Result } from './suite/cases.ts';
import type { Answered, Asked, Asker, Manner } from './suite/contract-client.ts';

/** The address of the worker, and the operations of this process that it may call. */
export interface WorkerAddress {
  readonly address: URL;
  readonly control: Control;
}

// They are over in milliseconds where they can pass.
const tryImpossibleForMs = 5_000;

/**
 * The contract of HTTP clients with client and adapter in a worker, each request in a context of its own. Cases, services and
 * the foreign host are in this process. `impossible`: the cases that this worker cannot pass, and why; one that passes all the same is reported.
 */
export async function runContractInWorker(
  worker: WorkerAddress,
  manner: Manner,
  impossible: Readonly<Record<string, string>> = {},
): Promise<Result[]> {
  const cases = httpClientContract(connectTo(worker, manner));
  const results: Result[] = [];
  for (const { name, run } of cases.filter(({ name }) => !(name in impossible))) {
    results.push({ name, problem: await problemOf(run) });
  }
  const tried = Object.entries(impossible).map(async ([name, impossibleBecause]): Promise<Result> => {
    const run = cases.find((each) => each.name === name)?.run;
    if (!run) return { name, problem: 'is no case of the contract, but on the list of those that cannot pass' };
    const waited = sleep(tryImpossibleForMs, 'does not pass', { ref: false });
    if (await Promise.race([problemOf(run), waited])) return { name, impossibleBecause };
    return { name, problem: 'passes, though it is on the list of those that cannot' };
  });
  return [...results, ...(await Promise.all(tried))];
}

async function problemOf(run: () => Promise<void>): Promise<string | undefined> {
  return run().then(
    () => undefined,
    (error: Error) => String(error.stack ?? error),
  );
}

function connectTo({ address, control }: WorkerAddress, manner: Manner): ConnectHttpClient {
  return async ({ options: { clock, onEvent, store, ...options } }) => {
    const signals: AbortSignal[] = [];
    // The worker may ask only after it has happened.
    const aborted = (index: number) =>
      new Promise<void>((resolve) => {
        if (signals[index]?.aborted) resolve();
        else signals[index]?.addEventListener('abort', () => resolve());
      });
    const load = (key: string) => store?.load(key);
    const swap = (key: string, change: StoreChange) => store?.swap(key, change);
    const asker: Asker = { control: control.url, id: control.offer({ aborted, load, swap }) };
    let told = 0;

    async function ask(asked: Asked, body: RequestInit['body'] = null): Promise<Answered> {
      const url = new URL('/contract', address);
      url.searchParams.set('question', JSON.stringify({ asker, asked }));
      const response = await fetch(url, { method: 'POST', body, duplex: 'half' });
      const answered = (await response.json()) as Answered;
      const untold = answered.events.slice(told);
      told += untold.length;
      for (const event of untold) onEvent?.(event);
      return answered;
    }

    // The client's clock goes on by itself, for in a worker some wait for others on it, and follows where the case moves its own.
    const testClock = clock as TestClock;
    const { advance } = testClock;
    testClock.advance = async (ms) => {
      await advance(ms);
      await ask({ action: 'advance', ms });
    };

    await ask({ action: 'connect', options, durability: store?.durability, manner });
    const close = async () => void (await ask({ action: 'close' }));
    return {
      // The cases use nothing else of it.
      auth: { close } as ServiceAuth,
      async request({ body, signal, ...request }) {
        const abort = signal && (signal.aborted ? 'beforehand' : signals.push(signal) - 1);
        const asked = { action: 'request', ...request, kind: body?.kind, abort } as const;
        const { response, failure } = await ask(asked, contentOf(body));
        if (!response) throw Object.assign(new Error(failure?.printed), failure);
        return response;
      },
      close,
    };
  };
}

function contentOf(body: HttpClientBody | undefined): RequestInit['body'] {
  return body?.kind === 'json' ? JSON.stringify(body.value) : (body?.value ?? null);
}
