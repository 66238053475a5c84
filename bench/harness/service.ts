import { type Client, clientAt } from './client.ts';
import { startWorker } from './in-process.ts';

/** An order to the service: start, or say how many tokens it has issued since the last order. */
export type ServiceOrder = { readonly delayMs: number } | 'issued';

/** A token endpoint and an API, in a process of their own. */
export interface Service extends AsyncDisposable {
  /** A client that the server knows, because it accepts every client. */
  readonly client: Client;
  /** The number of tokens that it issued since the last call. */
  issued(): Promise<number>;
}

export async function startService(options: { delayMs?: number } = {}): Promise<Service> {
  const worker = await startWorker<ServiceOrder, string | number>('service');
  const origin = await worker.run({ delayMs: options.delayMs ?? 0 });
  return {
    client: clientAt(`${origin}`),
    issued: async () => (await worker.run('issued')) as number,
    [Symbol.asyncDispose]: () => worker[Symbol.asyncDispose](),
  };
}
