// The runtimes that npm installs, for the checks `packed` and `runtimes`: pinned in the folder engines, a workspace of its own.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { byDay } from '@service-auth/test-tools/night';
import { oneAtATime, run } from '@service-auth/test-tools/servers/tools';

/** A version of Node and its program. */
export interface Node {
  readonly major: number;
  readonly file: string;
}

const folder = fileURLToPath(new URL('engines', import.meta.url));

const maxInstallMs = 600_000;

/** Does nothing if they exist. Several test files may call it at the same time: pnpm must not install a folder twice at once. */
export async function installEngines(): Promise<void> {
  // Scripts of this repository have pnpm on their path; Vitest alone may not.
  const pnpm = process.env['npm_config_user_agent']?.startsWith('pnpm/') ? ['pnpm'] : ['npx', '--yes', 'pnpm@12'];
  const [command = '', ...argv] = [...pnpm, 'install', '--frozen-lockfile', '--dir', folder];
  await oneAtATime('engines', maxInstallMs, () => run(command, argv, { timeout: maxInstallMs }));
}

/** A file of an installed package. */
export function engine(file: string): string {
  return join(folder, 'node_modules', file);
}

export const bun: string = engine(`@oven/bun-linux-${arch() === 'x64' ? 'x64' : 'aarch64'}/bin/bun`);
export const deno: string = engine(`@deno/linux-${arch()}-glibc/deno`);
export const miniflare: string = engine('miniflare/package.json');

/** workerd, with Workers in it. */
export interface Miniflare {
  readonly ready: Promise<URL>;
  getWorker(name: string): Promise<{ fetch(url: string, init?: object): Promise<Response> }>;
  dispose(): Promise<void>;
}

/** Starts it with options of its own. `cf: false`: no address of Cloudflare's is asked where it thinks we are. */
export function startMiniflare(options: object): Miniflare {
  const { Miniflare } = createRequire(miniflare)('miniflare') as { Miniflare: new (options: object) => Miniflare };
  return new Miniflare({ cf: false, ...options });
}

/** Each Node that the packages are said to run on; 24 is the toolchain's own. */
export const nodes: readonly Node[] = [20, 22, 24, 26].map((major) => ({
  major,
  file: major === 24 ? process.execPath : engine(`node-${major}-${arch()}/bin/node`),
}));

/** By day the oldest and the newest Node, for what costs minutes on each. */
export const triedNodes: readonly Node[] = byDay(nodes, ({ major }) => major === 20 || major === 26);

/** True if the engine is installed. Always true in CI, so that a missing engine fails there. */
export function isInstalled(name: string, file: string): boolean {
  if (existsSync(file) || process.env['CI']) return true;
  console.log(`warning: ${name} is not available for this machine, so it was not tested.`);
  return false;
}
