import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface Registry {
  /** Begins with `http://127.0.0.1:`. */
  readonly address: string;
  /** The only variables of the programs that publish and install: they have an empty home, and know no other registry. */
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** Installs npm, Yarn, Bun and Verdaccio, each in the version of the lockfile. */
export function installTools(tools: string): void {
  execFileSync('pnpm', ['install', '--frozen-lockfile', '--dir', tools], { stdio: 'pipe' });
}

/** Starts an empty registry on loopback. It has the packages of others from the registry that npm is configured with. */
export async function startRegistry(tools: string, folder: string): Promise<Registry> {
  const others = execFileSync('npm', ['config', 'get', 'registry'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const program = fileURLToPath(new URL('registry-process.ts', import.meta.url));
  const server = spawn(process.execPath, ['--use-system-ca', program, tools, join(folder, 'registry'), others.trim()], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(server, 'exit');
  const [address] = await Promise.race([
    once(createInterface(server.stdout), 'line') as Promise<[string]>,
    ended.then(([status]) => Promise.reject(new Error(`The registry ended with ${status} before it listened.`))),
  ]);
  return {
    address,
    env: clientEnvironment(tools, join(folder, 'home'), address),
    async close() {
      server.kill();
      await ended;
    },
  };
}

function clientEnvironment(tools: string, home: string, address: string): Record<string, string> {
  mkdirSync(home, { recursive: true });
  const anyToken = `${address.slice('http:'.length)}:_authToken=rehearsal`;
  writeFileSync(join(home, '.npmrc'), `registry=${address}\n${anyToken}\nupdate-notifier=false\n`);
  return {
    HOME: home,
    PATH: `${join(tools, 'node_modules/.bin')}:${process.env['PATH']}`,
    NO_COLOR: '1',
    TURBO_TELEMETRY_DISABLED: '1',
    // The copy has another version than what was installed for it.
    pnpm_config_verify_deps_before_run: 'false',
    YARN_ENABLE_TELEMETRY: '0',
    YARN_NPM_REGISTRY_SERVER: address,
    YARN_UNSAFE_HTTP_WHITELIST: '127.0.0.1',
    // Yarn does not install a version on its first day.
    YARN_NPM_MINIMAL_AGE_GATE: '0',
  };
}
