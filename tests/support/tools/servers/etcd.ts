import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { temporaryFolder } from '../end-with-this-process.ts';
import { debianProgram, type Program } from './debian.ts';
import { freePort, startServer, type TestServer } from './server.ts';
import { lastLine, onPath } from './tools.ts';

/**
 * Starts an etcd of one member: the one on PATH or, on Debian, the package's, unpacked into the cache of this repository. Where there is none it
 * rejects with a sentence that says what to do.
 */
export async function startEtcd(): Promise<TestServer> {
  const { command, env } = await findEtcd();
  const folder = temporaryFolder(join(tmpdir(), 'service-auth-etcd-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const peers = `http://127.0.0.1:${await freePort()}`;
  const settings = {
    name: 'test',
    'data-dir': folder,
    'listen-client-urls': url,
    'advertise-client-urls': url,
    'listen-peer-urls': peers,
    'initial-advertise-peer-urls': peers,
    'initial-cluster': `test=${peers}`,
  };
  const args = Object.entries(settings).map(([name, value]) => `--${name}=${value}`);
  return startServer(
    // Its authors test it on x64 only, and it wants to be told that this is known.
    {
      command,
      args,
      env: { ...env, ETCD_UNSUPPORTED_ARCH: process.arch },
      ready: /serving (insecure )?client (traffic|requests)/,
    },
    { url, port, folder },
  );
}

async function findEtcd(): Promise<Program> {
  const installed = onPath('etcd');
  if (installed) return { command: installed, env: {} };
  try {
    return await debianProgram('etcd', 'usr/bin/etcd', ['etcd-server']);
  } catch (error) {
    throw new Error(`no etcd: install etcd-server. Its package could not be fetched: ${lastLine(error)}`);
  }
}
