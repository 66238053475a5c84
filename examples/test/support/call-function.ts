// One instance of a function of examples/serverless. It says when its module is loaded, and calls the function at each message, which is the time that the call has.
import { setTimeout as delay } from 'node:timers/promises';

interface LambdaAnswer {
  readonly statusCode: number;
  readonly headers?: Record<string, string>;
}

/** The answer of a function. */
export interface Answered {
  readonly status: number;
  readonly retryAfter: string | null;
}

/** The exports of a file of examples/serverless. */
interface Exports {
  handler?(event: unknown, context: { getRemainingTimeInMillis(): number }): Promise<LambdaAnswer>;
  GET?(request: Request): Promise<Response>;
  orders?(): Promise<{ status: number; headers?: Record<string, string> }>;
  default?: (() => Promise<Response>) | { fetch(request: Request): Promise<Response> };
}

const { handler, GET, orders, default: main }: Exports = await import(process.argv[2] ?? '');
const request = () => new Request('https://function.example/orders');

/** Asks the server that a file without exports has started. Its port is open a moment after the module was loaded. */
async function ask(): Promise<Response> {
  try {
    return await fetch(`http://127.0.0.1:${process.env['PORT']}/`);
  } catch {
    await delay(20);
    return ask();
  }
}

async function answer(remainingMs: number): Promise<{ status: number; headers?: Headers | Record<string, string> }> {
  if (handler) {
    const { statusCode, ...rest } = await handler({}, { getRemainingTimeInMillis: () => remainingMs });
    return { status: statusCode, ...rest };
  }
  if (GET) return GET(request());
  if (orders) return orders();
  if (typeof main === 'function') return main();
  return main ? main.fetch(request()) : ask();
}

async function call(remainingMs: number): Promise<Answered> {
  const { status, headers } = await answer(remainingMs);
  return { status, retryAfter: new Headers(headers).get('retry-after') };
}

process.on('message', async (remainingMs: number) => process.send?.(await call(remainingMs).catch(String)));
process.send?.('loaded');
