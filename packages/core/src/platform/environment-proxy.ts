import { inWorker } from './in-worker.ts';
import { globalDispatchers } from './node-fetch.ts';

/** A proxy that a variable of the environment names for an address. */
export interface EnvironmentProxy {
  /** The variable that names it, such as `HTTPS_PROXY`. */
  readonly variable: string;
  /** True if the fetch of this process connects through it. */
  readonly isUsed: boolean;
  /**
   * A sentence that names the proxy and says what to do. It has only the host and port of the
   * value, which may contain a password.
   */
  readonly remark: string;
}

interface Globals {
  readonly process?: { readonly env?: Environment };
  readonly Bun?: unknown;
  readonly Deno?: unknown;
}

type Environment = Readonly<Record<string, string | undefined>>;

const remedy = 'NODE_USE_ENV_PROXY=1 (Node 22.21, 24 and newer)';

/**
 * Returns the proxy that the environment names for an address. Undefined: it names none, or it is
 * unknown whether the fetch of this process uses it.
 */
export function environmentProxy(address: string): EnvironmentProxy | undefined {
  const { process, Bun, Deno } = globalThis as Globals;
  // Deno would ask the user for permission.
  const env = Deno || inWorker() ? undefined : process?.env;
  const url = new URL(address);
  // If https: has no proxy, undici uses the proxy of http: for it, too.
  const variables = [...(url.protocol === 'https:' ? ['https_proxy'] : []), 'http_proxy', 'all_proxy'];
  const variable = env && nameIn(env, variables);
  if (!variable) return undefined;
  const exception = nameIn(env, ['no_proxy']);
  if (exception && isExcepted(url, env[exception] ?? '')) {
    const remark = `${variable} is set, but ${exception} names this host, so it is to be reached without a proxy.`;
    return { variable, isUsed: false, remark };
  }
  const isForAll = /^all_/i.test(variable);
  const reads = Bun ? true : fetchReadsEnvironment();
  if (reads === undefined || (Bun && isForAll)) return undefined;
  if (isForAll) {
    const remark = `${variable} is set, but Node does not read it: set HTTPS_PROXY and ${remedy}.`;
    return { variable, isUsed: false, remark };
  }
  const remark = reads
    ? `${variable} is set and used, so this was a connection to the proxy${hostIn(env[variable])}: look there first, or name the host in NO_PROXY.`
    : `${variable} is set, but the fetch of this process does not use it: if only the proxy leads there, set ${remedy}.`;
  return { variable, isUsed: reads, remark };
}

/** Returns the first of these variables that is set, in lower case or in capitals. */
function nameIn(env: Environment, names: readonly string[]): string | undefined {
  return names.flatMap((name) => [name, name.toUpperCase()]).find((name) => env[name]);
}

/**
 * Returns whether `NO_PROXY` names a host: the host itself, its domain, or all hosts; if it names a
 * port, only with that port.
 */
function isExcepted({ hostname, port, protocol }: URL, exceptions: string): boolean {
  const ownPort = port || (protocol === 'https:' ? '443' : '80');
  return exceptions
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => {
      const [, name = '', entryPort = ownPort] = /^(.+?)(?::(\d+))?$/.exec(entry) ?? [];
      const domain = name.replace(/^\*?\./, '');
      return entryPort === ownPort && (name === '*' || (domain !== '' && `.${hostname}`.endsWith(`.${domain}`)));
    });
}

/**
 * Returns whether the fetch of Node uses the proxies of the environment. Undefined: its dispatcher
 * is of another kind.
 */
function fetchReadsEnvironment(): boolean | undefined {
  const names = globalDispatchers().map((dispatcher) => dispatcher.constructor?.name);
  if (names.includes('EnvHttpProxyAgent')) return true;
  // undici 8 wraps its dispatcher for the fetch of older versions.
  return names.every((name) => name === 'Agent' || name === 'Dispatcher1Wrapper') ? false : undefined;
}

function hostIn(value = ''): string {
  const { host } = URL.canParse(value) ? new URL(value) : { host: '' };
  return host && ` at ${host}`;
}
