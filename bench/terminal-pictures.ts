// The pictures of docs/command-line.md: what the program really prints in a terminal, in two themes. `node bench/terminal-pictures.ts`
// needs the built program, and `script` of util-linux for a terminal.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createServiceAuth, memoryStore, type Store } from '@service-auth/core';
import { recordKey } from '@service-auth/core/record';
import { fileStore } from '@service-auth/file';
import { createTestClock, startTestService } from '@service-auth/testing';
import { scriptOf, terminalEnv, writePictures } from './harness/terminal-svg.ts';

const minute = 60_000;
const program = fileURLToPath(new URL('../packages/cli/dist/service-auth.js', import.meta.url));
// The path is as long as the one that replaces it, so that lines break where they seem to.
const shown = '/var/lib/service-auth';
const directory = mkdtempSync('/tmp/sap-');

const clientId = 'orders-service';
const audiences = ['https://api.example.com/', 'https://reports.example.com/'];
await using service = await startTestService({ clients: [{ clientId, clientSecret: 'secret', audiences }] });
try {
  const store = join(directory, 'store');
  const record = await recordOfABadNight();
  await fileStore(store).swap(await recordKey({ authUrl: service.authUrl, clientId }), { version: '1', record });
  for (const command of ['usage', 'explain', 'doctor'])
    writePictures(command, `service-auth ${command}`, await inTerminal(command, store));
} finally {
  rmSync(directory, { recursive: true });
}

/** The record of a fleet whose API began to answer 401 four hours ago, ending now. */
async function recordOfABadNight(): Promise<string> {
  const clock = createTestClock({ now: Date.now() - 32 * 60 * minute });
  await using past = await startTestService({ clock, clients: [{ clientId, clientSecret: 'secret', audiences }] });
  let record = '';
  const kept = memoryStore({ clock });
  const store: Store = {
    durability: 'durable',
    load: kept.load,
    swap(key, change, options) {
      record = change.record;
      return kept.swap(key, change, options);
    },
  };
  // The key of the record does not matter, because it is written under another one.
  const start = (instance: string, audience = audiences[0]) =>
    createServiceAuth({ ...past.options, store, instance, ...(audience !== undefined && { audience }) });
  const workers = ['worker-1', 'worker-2', 'worker-3'].map((name) => start(name));
  const reports = start('reports-nightly', audiences[1]);
  for (let hour = 0; hour < 28; hour += 1) {
    for (const worker of workers) await worker.getToken();
    if (hour % 9 === 0) await reports.getToken();
    await clock.advance(60 * minute);
  }
  const api = start('api-7f9c4d5b6-x2x9z');
  for (let call = 0; call < 48; call += 1) {
    await api.invalidate(await api.getToken());
    await clock.advance(5 * minute);
  }
  return record;
}

/** Returns the text that a command prints in a terminal. */
async function inTerminal(command: string, store: string): Promise<string> {
  const variables = {
    SERVICE_AUTH_URL: service.authUrl,
    SERVICE_BASE_URL: service.baseUrl,
    SERVICE_AUTH_AUDIENCE: audiences[0],
    SERVICE_AUTH_CLIENT_ID: clientId,
    SERVICE_AUTH_STORE: `file:${store}`,
  };
  const argv = scriptOf(`'${process.execPath}' '${program}' ${command} || true`);
  const { stdout } = await promisify(execFile)('script', argv, { env: { ...terminalEnv, ...variables } });
  // Values that differ from machine to machine are shown as in the examples of the documentation.
  return stdout.replaceAll('\r', '').replaceAll(service.authUrl, 'https://auth.example.com').replaceAll(store, shown);
}
