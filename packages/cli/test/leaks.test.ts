// Every command in trouble: what it prints has neither the secret, nor a token, nor the password of a store.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { secretCanary, sightings } from '@service-auth/test-tools/canaries';
import type { TestService } from '@service-auth/testing';
import { expect, test } from 'vitest';
import { emptyFolder, manyProcesses, run, runProcess } from './support/program.ts';
import { startCanaryService, variablesOf } from './support/world.ts';

const audience = 'https://api.example/';
const commands: readonly (readonly string[])[] = [
  ['token'],
  ['token', '--min-life', '48h'],
  ['usage'],
  ['usage', '--json'],
  ['explain'],
  ['check'],
  ['doctor'],
  ['doctor', '--issue', '--json'],
  ['reset', '--audience', audience, '--yes'],
  ['retry', '--yes'],
  ['record', 'export'],
  ['record', 'import', '/nowhere'],
  ['record', 'discard', '--yes'],
];

/** By day the others run in this process. */
const asProcesses = ['the token endpoint rejects the credentials', 'a store with a password is not there'];

type Variables = Readonly<Record<string, string | undefined>>;

/** Arranges the trouble. Resolves with the variables of the program and with the exit code of `usage` then. */
type Trouble = (service: TestService, env: Variables) => Promise<readonly [env: Variables, code: number]>;

const troubles: Readonly<Record<string, Trouble>> = {
  async 'the token endpoint rejects the credentials'(service, env) {
    service.tokenEndpoint.always({ status: 401 });
    return [env, 0];
  },
  async 'the answer with the token breaks off'(service, env) {
    service.tokenEndpoint.always({ cut: 'answer' });
    return [env, 0];
  },
  async 'the record is damaged'(_, env) {
    await run(['token'], { env });
    const folder = String(env['SERVICE_AUTH_STORE']).slice('file:'.length);
    for (const name of readdirSync(folder)) {
      const file = join(folder, name);
      writeFileSync(file, readFileSync(file, 'utf8').slice(0, -20));
    }
    return [env, 69];
  },
  async 'a store with a password is not there'(_, env) {
    return [{ ...env, SERVICE_AUTH_STORE: `redis://user:${secretCanary}@127.0.0.1:1` }, 69];
  },
  async 'a database with a password is not there'(_, env) {
    return [{ ...env, SERVICE_AUTH_STORE: `postgres://user:${secretCanary}@127.0.0.1:1/db?sslmode=require` }, 69];
  },
  async 'the secret and the key are in the wrong variables'(_, env) {
    const wrong = {
      ...env,
      SERVICE_AUTH_URL: secretCanary,
      SERVICE_AUTH_STORE: `${secretCanary}:`,
      SERVICE_AUTH_TOKEN_LIMIT: secretCanary,
      SERVICE_AUTH_HEADERS: secretCanary,
      SERVICE_AUTH_SCHEME: `${secretCanary} `,
    };
    return [wrong, 2];
  },
};

test.for(Object.entries(troubles))('nothing secret is printed if %s', manyProcesses, async ([trouble, arrange]) => {
  const service = await startCanaryService();
  const [env, usageCode] = await arrange(service, variablesOf(service, `file:${join(emptyFolder(), 'store')}`));
  const start = asProcesses.includes(trouble) ? runProcess : run;
  for (let at = 0; at < commands.length; at += 5) {
    const some = commands.slice(at, at + 5);
    const outcomes = await Promise.all(some.map((args) => start(args, { env })));
    for (const [index, { stdout, stderr, code }] of outcomes.entries()) {
      const name = some[index]?.join(' ');
      if (name === 'usage') expect(code).toBe(usageCode);
      expect(stderr, name).not.toContain('unexpected error');
      expect({ name, found: sightings(stdout + stderr) }).toEqual({ name, found: [] });
      expect({ name, found: service.findSecrets(stdout + stderr) }).toEqual({ name, found: [] });
    }
  }
});
