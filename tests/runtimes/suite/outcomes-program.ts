// Meets failures on Node, Bun and Deno. Arguments: the tasks, as JSON; the HTTP client; where it is installed; a forward proxy.
import { fetchTransport, type ServiceAuthOptions, type TransportRequest } from '@service-auth/core';
import { type Manner, type Measured, measure, type Task } from './outcomes.ts';

type Fetch = (url: string, init?: object) => Promise<Response>;
interface Undici {
  readonly fetch: Fetch;
  readonly EnvHttpProxyAgent?: new () => object;
  readonly Agent: new () => { compose(interceptor: object): object };
  readonly interceptors: { retry(options: object): object; responseError(): object };
}
interface Axios {
  post(
    url: string,
    body: string,
    options: object,
  ): Promise<{ status: number; headers: Record<string, string>; data: string }>;
  get(url: string): Promise<unknown>;
  create(): Axios;
}
type Got = (
  url: string,
  options: object,
) => Promise<{ statusCode: number; headers: Record<string, string>; body: string }>;
interface HttpClient {
  readonly transport?: ServiceAuthOptions['transport'];
  warm(url: string): Promise<unknown>;
}

const [tasks = '[]', name = 'fetch', location = '', plugin = ''] = process.argv.slice(2);

/** Sends a failed request of got again at once, whatever the error is. */
const once = ({ attemptCount }: { attemptCount: number }) => (attemptCount === 1 ? 1 : 0);

/** Asks for something else, so that the connection has been used. */
const warmedBy = (send: Fetch) => async (url: string) => {
  for (let request = 0; request < 3; request++) await (await send(url)).text();
};

const clients: Record<string, (manner?: Manner) => Promise<HttpClient>> = {
  async fetch() {
    return { warm: warmedBy((url) => fetch(url)) };
  },
  async given() {
    const send: Fetch = (url, init) => fetch(url, init);
    return { warm: warmedBy(send), transport: fetchTransport({ fetch: send }) };
  },
  async undici(manner) {
    const { fetch, EnvHttpProxyAgent, Agent, interceptors } = (await import(location)) as Undici;
    const dispatchers = {
      repeats: () => new Agent().compose(interceptors.retry({ methods: ['POST'], minTimeout: 1, maxRetries: 1 })),
      throws: () => new Agent().compose(interceptors.responseError()),
    };
    const dispatcher = manner ? dispatchers[manner]() : new (EnvHttpProxyAgent ?? Agent)();
    const send: Fetch = (url, init) => fetch(url, { ...init, dispatcher });
    return { warm: warmedBy(send), transport: fetchTransport({ fetch: send }) };
  },
  async axios(manner) {
    const { default: plain } = (await import(location)) as { default: Axios };
    const axios = plain.create();
    if (manner === 'repeats') {
      // It is a module of CommonJS.
      type AxiosRetry = { default: { default(axios: Axios, options: object): void } };
      const { default: retry } = (await import(plugin)) as AxiosRetry;
      retry.default(axios, { retries: 1, retryCondition: () => true });
    }
    const options = {
      responseType: 'text',
      maxRedirects: 0,
      transformResponse: [],
      ...(manner !== 'throws' && { validateStatus: null }),
    };
    return {
      warm: (url) => axios.get(url),
      async transport({ url, headers, body, signal }: TransportRequest) {
        const response = await axios.post(url, body, { ...options, headers, signal });
        return { status: response.status, headers: response.headers, body: response.data };
      },
    };
  },
  async got(manner) {
    const { default: got } = (await import(location)) as { default: Got };
    const retry = manner === 'repeats' ? { limit: 1, methods: ['POST'], calculateDelay: once } : { limit: 0 };
    const options = { throwHttpErrors: manner === 'throws', followRedirect: false, retry };
    return {
      warm: (url) => got(url, options),
      async transport({ url, method, headers, body, signal }: TransportRequest) {
        const response = await got(url, { ...options, method, headers, body, signal });
        return { status: response.statusCode, headers: response.headers, body: response.body };
      },
    };
  },
};

async function main(): Promise<void> {
  const measured: Measured[] = [];
  for (const task of JSON.parse(tasks) as Task[]) {
    const client = await clients[name]?.(task.manner);
    if (!client) throw new Error(`There is no client ${name}.`);
    measured.push(await measure(task, client.warm, client.transport));
  }
  console.log(JSON.stringify(measured));
  process.exit(0);
}

void main();
