// Meets failures on Node, Bun and Deno. Arguments: the tasks, as JSON; the HTTP client; where it is installed; a forward proxy.
import { fetchTransport, type ServiceAuthOptions, type TransportRequest } from '@service-auth/core';
import { type Measured, measure, type Task } from './outcomes.ts';

type Fetch = (url: string, init?: object) => Promise<Response>;
interface Undici {
  readonly fetch: Fetch;
  readonly EnvHttpProxyAgent?: new () => object;
  readonly Agent: new () => { compose(interceptor: object): object };
  readonly interceptors: { responseError(): object };
}
interface Axios {
  post(
    url: string,
    body: string,
    options: object,
  ): Promise<{ status: number; headers: Record<string, string>; data: string }>;
  get(url: string): Promise<unknown>;
}
type Got = (
  url: string,
  options: object,
) => Promise<{ statusCode: number; headers: Record<string, string>; body: string }>;
interface HttpClient {
  readonly transport?: ServiceAuthOptions['transport'];
  warm(url: string): Promise<unknown>;
}

const [tasks = '[]', name = 'fetch', location = ''] = process.argv.slice(2);

/** Asks for something else, so that the connection has been used. */
const warmedBy = (send: Fetch) => async (url: string) => {
  for (let request = 0; request < 3; request++) await (await send(url)).text();
};

const clients: Record<string, (throws?: true) => Promise<HttpClient>> = {
  async fetch() {
    return { warm: warmedBy((url) => fetch(url)) };
  },
  async given() {
    const send: Fetch = (url, init) => fetch(url, init);
    return { warm: warmedBy(send), transport: fetchTransport({ fetch: send }) };
  },
  async undici(throws) {
    const { fetch, EnvHttpProxyAgent, Agent, interceptors } = (await import(location)) as Undici;
    const dispatcher = throws ? new Agent().compose(interceptors.responseError()) : new (EnvHttpProxyAgent ?? Agent)();
    const send: Fetch = (url, init) => fetch(url, { ...init, dispatcher });
    return { warm: warmedBy(send), transport: fetchTransport({ fetch: send }) };
  },
  async axios(throws) {
    const { default: axios } = (await import(location)) as { default: Axios };
    const options = {
      responseType: 'text',
      maxRedirects: 0,
      transformResponse: [],
      ...(!throws && { validateStatus: null }),
    };
    return {
      warm: (url) => axios.get(url),
      async transport({ url, headers, body, signal }: TransportRequest) {
        const response = await axios.post(url, body, { ...options, headers, signal });
        return { status: response.status, headers: response.headers, body: response.data };
      },
    };
  },
  async got(throws) {
    const { default: got } = (await import(location)) as { default: Got };
    const options = { throwHttpErrors: throws === true, followRedirect: false, retry: { limit: 0 } };
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
    const client = await clients[name]?.(task.throws);
    if (!client) throw new Error(`There is no client ${name}.`);
    measured.push(await measure(task, client.warm, client.transport));
  }
  console.log(JSON.stringify(measured));
  process.exit(0);
}

void main();
