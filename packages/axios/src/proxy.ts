import type { InternalAxiosRequestConfig } from 'axios';
import type { Dispatch } from './dispatch.ts';
import { printableUrl } from './request-url.ts';

/**
 * Refuses a request with a token that a forward proxy would read. Undefined: nothing is in the way, without asking anybody.
 * @throws `TypeError` (as a rejection) that says what to configure
 */
export type ProxyGuard = (config: InternalAxiosRequestConfig, url: string) => Promise<void> | undefined;

type Route = { readonly path?: unknown } | undefined;

const loopback = /^http:\/\/(localhost|127(\.\d{1,3}){3}|\[::1\])([:/?#]|$)/i;

/**
 * The guard of one copy of axios. Before axios 1.17, its http adapter sends requests to https through a proxy without a tunnel (CONNECT, RFC 9110
 * section 9.3.6), so that the proxy reads them. Whether a proxy is used depends on the configuration and on several variables of the
 * environment: axios itself is asked, with a transport that sends nothing.
 */
export function createProxyGuard(dispatch: Dispatch): ProxyGuard {
  let hasTunnels = false;

  async function check(config: InternalAxiosRequestConfig): Promise<void> {
    const proxy = { protocol: 'http', host: '127.0.0.1', port: 9 };
    const throughProxy = await routeOf({ ...config, proxy }, dispatch);
    hasTunnels = throughProxy !== undefined && !isReadable(throughProxy);
    if (hasTunnels || !isReadable(await routeOf(config, dispatch))) return;
    throw new TypeError(
      `[service-auth/axios] This version of axios sends requests to ${printableUrl(config)} through a proxy that can read them, the token ` +
        'included. Update axios to 1.17 or newer, or set `proxy: false` and an agent that tunnels, for example ' +
        '`httpsAgent: new HttpsProxyAgent(url)` of the package https-proxy-agent.',
    );
  }

  return (config, url) =>
    hasTunnels || config.proxy === false || !/^https:/i.test(url) || !isSentByHttp(config) ? undefined : check(config);
}

/**
 * Whether the environment's proxies must be left out: plain http is allowed to loopback only because the token stays on this machine. A `proxy` in
 * the configuration is the application's own choice.
 */
export function isDirect({ proxy }: InternalAxiosRequestConfig, url: string): boolean {
  return !proxy && loopback.test(url);
}

/** Whether axios's http adapter sends a request. Other functions are mocks; fetch connects through proxies by itself. */
function isSentByHttp({ adapter = ['xhr', 'http', 'fetch'] }: InternalAxiosRequestConfig): boolean {
  if (typeof adapter === 'function') return adapter.name === 'http' || adapter.name === 'httpAdapter';
  const hasXhr = 'XMLHttpRequest' in globalThis;
  return [adapter].flat().find((each) => each !== 'xhr' || hasXhr) === 'http';
}

/** The options for `node:http` that axios's http adapter would send a request with. Undefined if it would send nothing. */
async function routeOf(config: InternalAxiosRequestConfig, dispatch: Dispatch): Promise<Route> {
  let route: Route;
  const transport = {
    request(options: Route): never {
      route = options;
      throw new Error('Nothing is sent.');
    },
  };
  const headers = config.headers.concat() as InternalAxiosRequestConfig['headers'];
  await dispatch.send({ ...config, adapter: 'http', data: undefined, headers, transport });
  return route;
}

/** A request for a proxy that makes no tunnel has a whole URL in the place of the path. */
function isReadable(route: Route): boolean {
  return /^https:/i.test(String(route?.path));
}
