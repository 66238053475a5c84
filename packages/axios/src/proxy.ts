import type { InternalAxiosRequestConfig } from 'axios';
import type { Changes, Dispatch } from './dispatch.ts';
import { withConfig } from './error-of-request.ts';
import { printableUrl } from './request-url.ts';

/**
 * Rejects a request whose token a forward proxy could read. Returns undefined if there is nothing to check.
 * @throws `TypeError` (as a rejection); its message names the settings to change
 */
export type ProxyGuard = (config: InternalAxiosRequestConfig, url: string) => Promise<void> | undefined;

type Route = { readonly path?: unknown } | undefined;

const loopback = /^http:\/\/(localhost|127(\.\d{1,3}){3}|\[::1\])([:/?#]|$)/i;

/**
 * The guard of one copy of axios. Before axios 1.17, the http adapter sends requests to https through a proxy without a tunnel (CONNECT,
 * RFC 9110 section 9.3.6), so the proxy can read them. The configuration and several environment variables decide whether axios uses a proxy.
 * To find out, the guard runs axios with a transport that sends nothing.
 */
export function createProxyGuard(dispatch: Dispatch): ProxyGuard {
  let hasTunnels = false;

  async function check(config: InternalAxiosRequestConfig): Promise<void> {
    const proxy = { protocol: 'http', host: '127.0.0.1', port: 9 };
    const throughProxy = await routeOf(config, dispatch, { proxy });
    hasTunnels = throughProxy !== undefined && !isReadable(throughProxy);
    if (hasTunnels || !isReadable(await routeOf(config, dispatch))) return;
    const refusal = new TypeError(
      `[service-auth/axios] This version of axios sends requests to ${printableUrl(config)} through a proxy that can read them, the token ` +
        'included. Update axios to 1.17 or newer, or set `proxy: false` and an agent that tunnels, for example ' +
        '`httpsAgent: new HttpsProxyAgent(url)` of the package https-proxy-agent.',
    );
    throw withConfig(refusal, config);
  }

  return (config, url) =>
    hasTunnels || config.proxy === false || !/^https:/i.test(url) || !isSentByHttp(config) ? undefined : check(config);
}

/**
 * Whether to ignore the proxies of the environment: plain http is allowed to loopback only because the token then stays on this machine.
 * A `proxy` in the configuration is the application's own choice and is used.
 */
export function isDirect({ proxy }: InternalAxiosRequestConfig, url: string): boolean {
  return !proxy && loopback.test(url);
}

/** True if axios's http adapter sends a request. Other adapters are mocks, or use fetch, which handles proxies itself. */
function isSentByHttp({ adapter = ['xhr', 'http', 'fetch'] }: InternalAxiosRequestConfig): boolean {
  if (typeof adapter === 'function') return adapter.name === 'http' || adapter.name === 'httpAdapter';
  const hasXhr = 'XMLHttpRequest' in globalThis;
  return [adapter].flat().find((each) => each !== 'xhr' || hasXhr) === 'http';
}

/** The options that axios's http adapter would pass to `node:http`. Undefined if it would send nothing. */
async function routeOf(config: InternalAxiosRequestConfig, dispatch: Dispatch, changes?: Changes): Promise<Route> {
  let route: Route;
  const transport = {
    request(options: Route): never {
      route = options;
      throw new Error('Nothing is sent.');
    },
  };
  // Over HTTP/2 axios would ignore the transport and send the request.
  const trial = { data: undefined, httpVersion: 1, transport } as const;
  const headers = config.headers.concat() as InternalAxiosRequestConfig['headers'];
  const asked = Object.assign(Object.create(Object.getPrototypeOf(config)), config, { adapter: 'http' });
  await dispatch.send(asked, { ...changes, ...trial, headers });
  return route;
}

/** True if the path is an absolute URL, as in a request to a proxy without a tunnel (RFC 9112 section 3.2.2). */
function isReadable(route: Route): boolean {
  return /^https:/i.test(String(route?.path));
}
