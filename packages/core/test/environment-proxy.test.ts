import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { environmentProxy } from '../src/http/index.ts';
import { fetchTransport } from '../src/index.ts';
import { systemClock } from '../src/platform/clock.ts';
import { createBed, failure } from './support/bed.ts';
import { secretCanary } from './support/canaries.ts';

const names = ['https_proxy', 'http_proxy', 'all_proxy', 'no_proxy'].flatMap((name) => [name, name.toUpperCase()]);
// Whoever runs these tests may be behind a proxy.
beforeEach(() => names.forEach((name) => void vi.stubEnv(name, undefined)));
afterEach(() => void vi.unstubAllEnvs());

const proxy = `http://user:${secretCanary}@proxy.example:3128`;
const address = 'https://auth.example.com/oauth/token';

function setAll(variables: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
}

/** Has fetch look as if it sent by a dispatcher of this class, as undici and Node leave it on the global object. */
function useDispatcher(name: string): void {
  const globals = globalThis as Record<symbol, unknown>;
  const keys = [1, 2].map((version) => Symbol.for(`undici.globalDispatcher.${version}`));
  const before = keys.map((key) => globals[key]);
  const Dispatcher = { [name]: class {} }[name] as new () => object;
  for (const key of keys) globals[key] = new Dispatcher();
  onTestFinished(() => {
    for (const [index, key] of keys.entries()) globals[key] = before[index];
  });
}

describe('a proxy of the environment', () => {
  test.each([
    [{ HTTPS_PROXY: proxy }, 'HTTPS_PROXY'],
    [{ https_proxy: proxy, HTTPS_PROXY: proxy }, 'https_proxy'],
    [{ HTTP_PROXY: proxy }, 'HTTP_PROXY'],
    [{ http_proxy: proxy, HTTPS_PROXY: proxy }, 'HTTPS_PROXY'],
  ])('that is set by %j and not used is told, and what uses it', (variables, variable) => {
    setAll(variables);
    useDispatcher('Agent');
    const remark = `${variable} is set, but the fetch of this process does not use it: if only the proxy leads there, set NODE_USE_ENV_PROXY=1 (Node 22.21, 24 and newer).`;
    expect(environmentProxy(address)).toEqual({ variable, isUsed: false, remark });
  });

  test('that is used is told with host and port, and without its password', () => {
    setAll({ HTTPS_PROXY: proxy });
    useDispatcher('EnvHttpProxyAgent');
    expect(environmentProxy(address)).toEqual({
      variable: 'HTTPS_PROXY',
      isUsed: true,
      remark:
        'HTTPS_PROXY is set and used, so this was a connection to the proxy at proxy.example:3128: look there first, or name the host in NO_PROXY.',
    });
    setAll({ HTTPS_PROXY: `${secretCanary}:3128` });
    expect(environmentProxy(address)?.remark).toContain('a connection to the proxy: look there first');
  });

  test('is not read from ALL_PROXY by Node', () => {
    setAll({ ALL_PROXY: proxy });
    for (const dispatcher of ['Agent', 'EnvHttpProxyAgent']) {
      useDispatcher(dispatcher);
      const remark =
        'ALL_PROXY is set, but Node does not read it: set HTTPS_PROXY and NODE_USE_ENV_PROXY=1 (Node 22.21, 24 and newer).';
      expect(environmentProxy(address)).toEqual({ variable: 'ALL_PROXY', isUsed: false, remark });
    }
  });

  test.each([
    'auth.example.com',
    'example.com',
    '.example.com',
    '*.example.com',
    'a.example, auth.example.com:443',
    '*',
  ])('is not for a host that NO_PROXY names as %s', (exceptions) => {
    setAll({ HTTPS_PROXY: proxy, NO_PROXY: exceptions });
    useDispatcher('EnvHttpProxyAgent');
    const remark = 'HTTPS_PROXY is set, but NO_PROXY names this host, so it is to be reached without a proxy.';
    expect(environmentProxy(address)).toEqual({ variable: 'HTTPS_PROXY', isUsed: false, remark });
  });

  test.each(['', ',', 'ample.com', 'api.auth.example.com', 'auth.example.com:8443'])(
    'is for a host that NO_PROXY does not name: %j',
    (exceptions) => {
      setAll({ HTTPS_PROXY: proxy, no_proxy: exceptions });
      useDispatcher('EnvHttpProxyAgent');
      expect(environmentProxy(address)?.isUsed).toBe(true);
    },
  );

  test.each([
    ['there is none', {}, 'Agent', address],
    ['it is for https: alone', { HTTPS_PROXY: proxy }, 'Agent', 'http://auth.example.com/'],
    ['a dispatcher of another kind may have its own', { HTTPS_PROXY: proxy }, 'ProxyAgent', address],
  ])('is not told if %s', (_, variables, dispatcher, url) => {
    setAll(variables);
    useDispatcher(dispatcher);
    expect(environmentProxy(url)).toBeUndefined();
  });
});

describe('an error of a token endpoint that cannot be reached', () => {
  /** A port on which nothing listens any more. */
  async function closedPort(): Promise<number> {
    const server = createServer();
    const port = await new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
    });
    await new Promise((resolve) => server.close(resolve));
    return port;
  }

  async function messageOf(scheme: string, transport?: ReturnType<typeof fetchTransport>): Promise<string> {
    const { client } = createBed();
    const authUrl = `${scheme}://127.0.0.1:${await closedPort()}`;
    const auth = client({ authUrl, transport, clock: systemClock, store: undefined });
    return (await failure('ERR_TOKEN_ENDPOINT', auth.getToken())).message;
  }

  test('says that a proxy is set and not used', async () => {
    setAll({ HTTPS_PROXY: proxy });
    expect(await messageOf('https')).toMatch(
      /\(TypeError ECONNREFUSED\)\. Nothing was counted\. HTTPS_PROXY is set, but the fetch of this process does not use it: .*\. Check authUrl /,
    );
  });

  test('says nothing of a proxy if there is none, if core uses none, or if the transport may have its own', async () => {
    expect(await messageOf('https')).not.toContain('proxy');
    setAll({ HTTPS_PROXY: proxy, HTTP_PROXY: proxy });
    expect(await messageOf('http')).not.toContain('proxy');
    expect(await messageOf('https', fetchTransport({ fetch }))).not.toContain('proxy');
  });
});
