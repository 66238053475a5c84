import { type ChildProcess, type IOType, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { authorityFile } from './certificate.ts';
import { type Shop, startShop } from './start-shop.ts';

/** A process that runs a recipe against a shop on loopback. */
export interface RunningRecipe extends AsyncDisposable {
  readonly shop: Shop;
  readonly process: ChildProcess;
  /** The exit code. */
  readonly ended: Promise<number>;
}

export interface RecipeOptions {
  readonly stdio: IOType;
  /** The shop that it uses. Default: a new one. */
  readonly shop?: Shop;
  /** The directory for files of the user. Default: a new one. */
  readonly directory?: string;
}

/** The servers that recipes need besides the shop. */
const backends: Readonly<
  Record<string, (shop: Shop) => Promise<AsyncDisposable & { readonly env: Record<string, string> }>>
> = {
  grpc: async (shop) => (await import('./start-grpc-server.ts')).startGrpcServer(shop),
  kafkajs: async (shop) => (await import('./start-broker.ts')).startBroker(shop),
  mcp: async (shop) => (await import('./start-gateway.ts')).startGateway(shop),
  ws: async (shop) => (await import('./start-gateway.ts')).startGateway(shop),
};

/** True if a recipe is a server, which runs until it is stopped. */
export const isServer = (name: string): boolean => ['express', 'fastify', 'hono'].includes(name);

/** Resolves with the address of a server, when it says that it listens. It must have been started with `stdio: 'pipe'`. */
export async function urlOf({ process: { stdout, stderr } }: RunningRecipe): Promise<string> {
  let said = '';
  stderr?.on('data', (chunk) => (said += chunk));
  for await (const chunk of stdout?.iterator({ destroyOnReturn: false }) ?? []) {
    said += chunk;
    const port = /Listening on .*port: (\d+)/.exec(said)?.[1];
    if (port) return `http://localhost:${port}`;
  }
  throw new Error(`It ended early: ${said}`);
}

const fileOf = (name: string): string =>
  name.includes('/') ? name : fileURLToPath(new URL(`../recipes/${name}.ts`, import.meta.url));

const limitMs = 20_000;
const flags = [
  ...process.execArgv.filter((flag) => flag.startsWith('--conditions=')),
  '--disable-warning=ExperimentalWarning',
];

/** Starts a recipe by its name, or the program of a file. */
export async function startRecipe(
  name: string,
  { stdio, shop: given, directory }: RecipeOptions,
): Promise<RunningRecipe> {
  const shop = given ?? (await startShop());
  const backend = await backends[name]?.(shop);
  const home = directory ?? mkdtempSync(join(tmpdir(), 'service-auth-recipe-'));
  const inherited = Object.entries(process.env).filter(([name]) => !/^(SERVICE_|NODE_(?!COMPILE_CACHE))/.test(name));
  const child = spawn(process.execPath, [...flags, fileOf(name)], {
    env: {
      ...Object.fromEntries(inherited),
      ...shop.env,
      ...backend?.env,
      XDG_CACHE_HOME: home,
      NODE_EXTRA_CA_CERTS: authorityFile,
      GRPC_DEFAULT_SSL_ROOTS_FILE_PATH: authorityFile,
      NO_COLOR: '1',
      PORT: '0',
    },
    stdio: ['ignore', stdio, stdio],
    timeout: limitMs,
  });
  return {
    shop,
    process: child,
    ended: once(child, 'close').then(([code]) => (typeof code === 'number' ? code : 1)),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await backend?.[Symbol.asyncDispose]();
      if (!given) await shop[Symbol.asyncDispose]();
      if (!directory) rmSync(home, { recursive: true, force: true });
    },
  };
}
