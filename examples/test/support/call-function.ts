// One instance of a function of examples/serverless. It says when its module is loaded, and calls the function at the first message.
import { setTimeout as delay } from 'node:timers/promises';

/** The exports of a file of examples/serverless. */
interface Exports {
  handler?(event: unknown, context: { getRemainingTimeInMillis(): number }): Promise<{ statusCode: number }>;
  GET?(request: Request): Promise<Response>;
  orders?(): Promise<{ status: number }>;
  default?: (() => Promise<Response>) | { fetch(request: Request): Promise<Response> };
}

const { handler, GET, orders, default: main }: Exports = await import(process.argv[2] ?? '');
const request = () => new Request('https://function.example/orders');

/** Asks the server that a file without exports has started. Its port is open a moment after the module was loaded. */
async function ask(): Promise<number> {
  try {
    return (await fetch(`http://127.0.0.1:${process.env['PORT']}/`)).status;
  } catch {
    await delay(20);
    return ask();
  }
}

async function call(): Promise<number> {
  if (handler) return (await handler({}, { getRemainingTimeInMillis: () => 60_000 })).statusCode;
  if (GET) return (await GET(request())).status;
  if (orders) return (await orders()).status;
  if (typeof main === 'function') return (await main()).status;
  return main ? (await main.fetch(request())).status : ask();
}

process.once('message', async () => process.send?.(await call().catch(String)));
process.send?.('loaded');
