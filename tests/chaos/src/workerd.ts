import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { engine, installEngines } from '@service-auth/runtimes/engines';
import { temporaryFolder } from '@service-auth/test-tools/end-with-this-process';
import { freePort, startServer, type TestServer } from '@service-auth/test-tools/servers/server';
import { build } from 'esbuild';

/** Starts workerd, the program of Workers that Cloudflare runs, with the Worker of gateway.ts. Its Durable Objects are on disk. */
export async function startWorkerd(): Promise<TestServer> {
  await installEngines();
  // It is a dependency of miniflare, beside the folder to which the link leads.
  const fromMiniflare = createRequire(realpathSync(engine('miniflare/package.json')));
  const { default: command } = fromMiniflare('workerd') as { default: string };
  const folder = temporaryFolder(join(tmpdir(), 'service-auth-workerd-'));
  mkdirSync(join(folder, 'objects'));
  await build({
    entryPoints: [fileURLToPath(new URL('gateway.ts', import.meta.url))],
    outfile: join(folder, 'gateway.js'),
    ...{ bundle: true, format: 'esm', platform: 'neutral', conditions: ['@service-auth/source', 'workerd'] },
  });
  const port = await freePort();
  const config = join(folder, 'config.capnp');
  writeFileSync(config, configOf(port, join(folder, 'objects')));
  return startServer(
    // It writes an event on standard output when it listens, and a stack on standard error for each call that fails.
    { command, args: ['serve', '--control-fd=1', config], ready: /"event":"listen"/ },
    {
      url: `http://127.0.0.1:${port}/`,
      port,
      folder,
    },
  );
}

function configOf(port: number, objects: string): string {
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .gateway),
    (name = "objects", disk = (path = ${JSON.stringify(objects)}, writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
const gateway :Workerd.Worker = (
  modules = [(name = "gateway.js", esModule = embed "gateway.js")],
  compatibilityDate = "2026-07-01",
  durableObjectNamespaces = [(className = "ServiceAuthStore", uniqueKey = "service-auth", enableSql = true)],
  durableObjectStorage = (localDisk = "objects"),
  bindings = [(name = "SERVICE_AUTH", durableObjectNamespace = "ServiceAuthStore")],
);
`;
}
