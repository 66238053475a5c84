import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { fileURLToPath } from 'node:url';
import { generate } from 'selfsigned';
import type { Peer } from './peer.ts';

/** @simulacrum/auth0-simulator, over https with a certificate of its own. */
export interface Auth0Simulator extends Peer {
  /** Makes this process trust the certificate. */
  trust(): void;
}

export async function startAuth0Simulator(): Promise<Auth0Simulator> {
  const home = mkdtempSync(join(tmpdir(), 'service-auth-simulator-'));
  const folder = join(home, '.simulacrum/certs');
  mkdirSync(folder, { recursive: true });
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    extensions: [
      { name: 'basicConstraints', cA: true },
      { name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] },
    ],
  });
  writeFileSync(join(folder, 'localhost.pem'), cert);
  writeFileSync(join(folder, 'localhost-key.pem'), key);

  const simulator = fork(fileURLToPath(new URL('auth0-process.ts', import.meta.url)), {
    execArgv: [],
    env: { HOME: home },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const [port] = await once(simulator, 'message');
  const authUrl = `https://localhost:${port}`;
  let tokenRequests = 0;
  simulator.on('message', () => {
    tokenRequests += 1;
  });
  const trusted = tls.getCACertificates('default');

  return {
    options: { authUrl, audience: 'https://api.example.com/', clientId: 'a client', clientSecret: 'a secret' },
    jwksUri: `${authUrl}/.well-known/jwks.json`,
    lifetimeMs: 86_400_000,
    get tokenRequests() {
      return tokenRequests;
    },
    trust: () => tls.setDefaultCACertificates([...trusted, cert]),
    async close() {
      tls.setDefaultCACertificates(trusted);
      simulator.disconnect();
      await once(simulator, 'exit');
      rmSync(home, { recursive: true });
    },
  };
}
