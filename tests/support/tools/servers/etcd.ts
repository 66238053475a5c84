import { findProgram } from './debian.ts';
import { freePort, newPlace, startServer, type TestServer } from './server.ts';

/** Starts an etcd of one member, as `findProgram` finds it. */
export async function startEtcd(): Promise<TestServer> {
  const { command, env } = await findProgram('etcd', {
    names: ['etcd'],
    packages: ['etcd-server'],
    path: 'usr/bin/etcd',
    otherwise: 'no etcd: install etcd-server',
  });
  const { folder, port } = await newPlace('etcd');
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
