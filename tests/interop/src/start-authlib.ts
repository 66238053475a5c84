import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { fetchTransport, type Transport } from '@service-auth/core';
import { clientSecretBasic, clientSecretPost, privateKeyJwt } from '@service-auth/core/oauth2';
import { debianPackages } from '@service-auth/test-tools/servers/debian';
import type { FormServer } from './form-server.ts';

const secret = 'p%c+t s:l/ash=&';
const storeKey = 'a key for the tokens in the store, in all processes';

/** The authorization server of Authlib, which is Python: Debian's python3-authlib. It reads Basic without decoding forms in it, and wants assertions addressed to the token endpoint. */
export async function startAuthlib(): Promise<FormServer> {
  const folder = await debianPackages('authlib', ['python3-authlib']);
  const python = '/usr/bin/python3';
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const known = {
    clients: {
      'a client': { method: 'client_secret_basic', secret },
      another: { method: 'client_secret_post', secret },
      keys: { method: 'private_key_jwt' },
    },
    publicKey: publicKey.export({ format: 'pem', type: 'spki' }),
  };
  const program = join(import.meta.dirname, 'authlib_server.py');
  const server = spawn(existsSync(python) ? python : join(folder, python), [program, JSON.stringify(known)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      LD_LIBRARY_PATH: globSync(join(folder, 'usr/lib/*-linux-*')).join(':'),
      PYTHONPATH: join(folder, 'usr/lib/python3/dist-packages'),
      AUTHLIB_INSECURE_TRANSPORT: '1',
    },
  });
  const ended = once(server, 'exit').then(() => Promise.reject(new Error('the server of Authlib ended')));
  const [port] = await Promise.race([once(server.stdout, 'data'), ended]);
  ended.catch(() => {});
  const url = `http://127.0.0.1:${Number(port)}`;
  const tokenEndpoint = `${url}/token`;
  let tokenRequests = 0;
  const send = fetchTransport();
  const transport: Transport = (request) => {
    tokenRequests += 1;
    return send(request);
  };
  const common = { tokenEndpoint, transport };
  const secretive = { ...common, clientSecret: secret };
  const notEncoded = clientSecretBasic({ encoding: 'none' });
  const key = String(privateKey.export({ format: 'pem', type: 'pkcs8' }));
  const clients = {
    'client_secret_basic, not encoded': { ...secretive, clientId: 'a client', clientAuthentication: notEncoded },
    client_secret_post: { ...secretive, clientId: 'another', clientAuthentication: clientSecretPost() },
    'private_key_jwt, PS256': {
      ...common,
      clientId: 'keys',
      storeKey,
      clientAuthentication: privateKeyJwt({ key, algorithm: 'PS256', audience: tokenEndpoint }),
    },
  };
  return {
    clients,
    get tokenRequests() {
      return tokenRequests;
    },
    async find(token) {
      const response = await fetch(`${url}/${token}`);
      return ((await response.json()) as { clientId: string; scope: string } | null) ?? undefined;
    },
    async close() {
      server.kill();
      if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
    },
  };
}
