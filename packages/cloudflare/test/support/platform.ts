// workerd, the runtime of Cloudflare Workers, by miniflare: the check installs both, they are no dependencies of the workspace.
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { createRequire } from 'node:module';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { engine, installEngines } from '@service-auth/runtimes/engines';
import { build } from 'esbuild';

/** The answer of a Worker. */
interface Answer {
  readonly status: number | undefined;
  readonly text: string;
}

/** A platform that runs Workers. */
export interface Platform extends AsyncDisposable {
  /** Sends a body to the Worker. */
  post(path: string, body: string): Promise<Answer>;
  /** Starts the Workers anew with other options. What the objects stored stays if it is on disk. */
  setOptions(options: object): Promise<void>;
}

/** A Worker of this folder, as one file. */
export async function bundled(name: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(name, import.meta.url))],
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    conditions: ['@service-auth/source', 'workerd', 'worker', 'browser'],
    external: ['node:*', 'cloudflare:*'],
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}

/** Sends a request by a connection of its own: workerd ends idle connections, also while a request is on its way to them. */
async function post(url: URL, body: string): Promise<Answer> {
  const sent = request(url, { method: 'POST', agent: false });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode, text: await text(response) };
}

/** workerd writes a stack for each failure, which is not asked for. */
function handleRuntimeStdio(...streams: Readable[]): void {
  for (const stream of streams) stream.resume();
}

/** Starts a Worker with the binding `SERVICE_AUTH`. */
export async function startPlatform(script: string, options: object = {}): Promise<Platform> {
  await installEngines();
  const { Miniflare } = createRequire(engine('miniflare/package.json'))('miniflare') as {
    Miniflare: new (
      options: object,
    ) => { readonly ready: Promise<URL>; setOptions(options: object): Promise<void>; dispose(): Promise<void> };
  };
  const complete = (changed: object) => ({
    modules: true,
    // No address of Cloudflare is asked for the place of this machine.
    cf: false,
    compatibilityDate: '2026-07-01',
    compatibilityFlags: ['nodejs_compat'],
    durableObjects: { SERVICE_AUTH: { className: 'ServiceAuthStore', useSQLite: true } },
    handleRuntimeStdio,
    script,
    ...changed,
  });
  const miniflare = new Miniflare(complete(options));
  await miniflare.ready;
  return {
    // Its port is another one after a new start.
    post: async (path, body) => post(new URL(path, await miniflare.ready), body),
    setOptions: (changed) => miniflare.setOptions(complete({ ...options, ...changed })),
    [Symbol.asyncDispose]: () => miniflare.dispose(),
  };
}
