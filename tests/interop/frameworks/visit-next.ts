import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { installPacked } from '@service-auth/test-tools/packages/packed';
import { listen } from '@service-auth/test-tools/servers/listen';
import { freePort } from '@service-auth/test-tools/servers/server';
import { startTestService } from '@service-auth/testing';
import { folder } from './application.ts';

/** One application with one version of Next.js. */
export interface Application {
  readonly major: 14 | 15 | 16;
  readonly name: 'classic' | 'cache-components';
}

/** The requests to each application while it runs: the path and the number. */
const dynamicRoutes: Readonly<Record<Application['name'], readonly string[]>> = {
  classic: [
    'dynamic',
    'stored',
    'handler',
    'edge',
    'legacy',
    'api/legacy-api',
    'wrapped',
    'forced',
    'after',
    'after?done',
  ],
  'cache-components': ['suspended', 'connected', 'peeked', 'handler'],
};
const prerenderedRoutes: Readonly<Record<Application['name'], readonly string[]>> = {
  classic: ['revalidating', 'static', 'revalidated'],
  'cache-components': ['cached'],
};
const buildLimitMs = 180_000;
const startLimitMs = 30_000;

/** Builds an application and visits its pages, before and after its tokens are revoked, and after a restart. Rejects with what is wrong. */
export async function visit({ major, name }: Application): Promise<void> {
  const home = await createApplication({ major, name });
  await using service = await startTestService({ issuanceLimit: { tokens: 1_000 } });
  await using trap = await startTrap();
  const env = {
    ...process.env,
    NODE_ENV: 'production',
    NEXT_TELEMETRY_DISABLED: '1',
    ...service.env,
    TRAP_URL: trap.url,
  };
  let output = '';
  const run = (...argv: string[]): ChildProcess => {
    const child = spawn(process.execPath, [join(folderOf(major), 'node_modules/next/dist/bin/next'), ...argv], {
      cwd: home,
      env,
      stdio: 'pipe',
    });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    return child;
  };

  /** The events of these types that the processes printed. The last line may be incomplete. */
  const reported = (types: RegExp) =>
    output
      .split('\n')
      .slice(0, -1)
      .filter((line) => line.startsWith('EVENT '))
      .map((line) => JSON.parse(line.slice(6)))
      .filter(({ type }) => types.test(type));

  /** Each token that a process says it was issued was issued, so none came out of a cache; and none lies on disk. */
  const check = (): void => {
    assert.deepEqual(reported(/failed|refused/), [], 'a token request failed');
    assert.equal(reported(/token_issued/).length, service.counts.issued, 'tokens issued');
    assert.equal(service.counts.tokenRequests, service.counts.issued, 'token requests');
    assert.deepEqual(filesWithToken(join(home, '.next'), service), [], 'files with a token');
  };

  // A page that was begun by one request must get its token after it has been prerendered.
  service.tokenEndpoint.next({ delayMs: 300 });
  const build = run('build');
  const buildTimer = setTimeout(() => build.kill('SIGKILL'), buildLimitMs);
  const [code] = await once(build, 'close');
  clearTimeout(buildTimer);
  assert.equal(code, 0, `the build ended with ${code}: ${output}`);
  const duringBuild = service.counts.issued;
  assert.ok(duringBuild > 0, 'the build asked for no token');
  check();

  for (const isRestarted of [false, true]) {
    const port = await freePort();
    const server = run('start', '-p', `${port}`, '-H', '127.0.0.1');
    const get = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${port}/${path}`);
      return [response.status, /orders \w+/.exec(await response.text())?.[0]];
    };
    try {
      await ready(server);
      if (name === 'classic' && !isRestarted) {
        // A request that is answered leaves its token request behind for the next one.
        const paused = service.tokenEndpoint.pauseNext();
        const before = service.counts.tokenRequests;
        assert.deepEqual(await get('left'), [200, 'orders later']);
        await paused.arrived;
        const next = get('handler');
        paused.resume();
        assert.deepEqual(await next, [200, 'orders 200'], 'after a request that left');
        assert.equal(service.counts.tokenRequests, before + 1, 'token requests after a request that left');
      }
      for (const isRevoked of [false, true]) {
        if (isRevoked) service.revoke('all');
        for (const path of [...prerenderedRoutes[name], ...dynamicRoutes[name]]) {
          assert.deepEqual(await get(path), [200, 'orders 200'], `${path}${isRevoked ? ', revoked' : ''}`);
        }
        // A handler is rendered again behind an answer, so its process may report a token later than the service counts it.
        const signal = AbortSignal.timeout(startLimitMs);
        while (!signal.aborted && reported(/token_issued/).length < service.counts.issued) {
          await once(server.stdout as NodeJS.ReadableStream, 'data', { signal }).catch(() => {});
        }
        check();
      }
      if (name === 'classic') {
        await checkChoice(get, service);
        await get('trap');
        await get('trap');
      }
    } finally {
      server.kill();
      await once(server, 'close');
    }
    check();
    if (!isRestarted) service.revoke('all');
  }
  if (name === 'classic') {
    // Without what core does: the same request, sent by the fetch of Next.js, is stored and answered from there.
    assert.equal(trap.requests, 1, 'Next.js no longer stores what it should not, so this check shows nothing');
    const stored = textsIn(join(home, '.next')).filter(([, text]) => text.includes(trap.answer));
    assert.ok(stored.length > 0, 'the search does not find what Next.js stores');
  }
}

/** The folder with a version of Next.js. */
function folderOf(major: number): string {
  return major === 16 ? folder : join(folder, `next-${major}`);
}

/** Puts an application where its version of Next.js is found, with our packages as they are published. Returns its folder. */
async function createApplication({ major, name }: Application): Promise<string> {
  const home = join(folderOf(major), `generated/next-${name}`);
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home, { recursive: true });
  cpSync(join(folder, `apps/next-${name}`), home, { recursive: true });
  cpSync(join(folder, 'apps/next-auth.js'), join(home, 'auth.js'));
  const options = {
    // The workspace, in which Next.js is.
    ...(major === 16 && { turbopack: { root: folder }, cacheComponents: name === 'cache-components' }),
    ...(major === 15 && { outputFileTracingRoot: folder }),
  };
  writeFileSync(join(home, 'next.config.mjs'), `export default ${JSON.stringify(options)};\n`);
  writeFileSync(join(home, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  await installPacked(home, ['core', 'fetch']);
  return home;
}

type Service = Awaited<ReturnType<typeof startTestService>>;

async function checkChoice(get: (path: string) => Promise<unknown[]>, service: Service): Promise<void> {
  for (const [cache, most] of [
    ['force-cache', 1],
    ['no-store', 2],
  ] as const) {
    const before = service.apiRequests.filter(({ path }) => path.endsWith(`choice/${cache}`)).length;
    for (const _ of [1, 2]) assert.deepEqual(await get(`choice?cache=${cache}`), [200, 'orders 200'], cache);
    const requests = service.apiRequests.filter(({ path }) => path.endsWith(`choice/${cache}`)).length - before;
    assert.equal(requests, most, `API requests with cache: '${cache}'`);
  }
}

/** A server with one answer, which counts. */
async function startTrap() {
  const answer = 'what the trap answers';
  let requests = 0;
  const server = createServer((_, response) => {
    requests += 1;
    response.end(answer);
  });
  const { url, close } = await listen(server);
  return {
    url,
    answer,
    get requests() {
      return requests;
    },
    [Symbol.asyncDispose]: close,
  };
}

/** The files below a folder that contain an access token of the service. */
export function filesWithToken(folder: string, { findSecrets }: Service): string[] {
  return textsIn(folder)
    .filter(([, text]) => findSecrets(text).includes('access token'))
    .map(([file]) => file);
}

/** The files under a folder: their text, and that of whatever is Base64 in it. What compilers keep is left out. */
function textsIn(folder: string): [file: string, text: string][] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(
      (entry) => entry.isFile() && !/\/cache\/(webpack|swc|turbopack)|\.map$/.test(join(entry.parentPath, entry.name)),
    )
    .map((entry) => {
      const file = join(entry.parentPath, entry.name);
      const text = readFileSync(file, 'latin1');
      const decoded = (text.match(/[A-Za-z0-9+/=_-]{24,}/g) ?? []).map((part) =>
        Buffer.from(part, 'base64').toString('latin1'),
      );
      return [file.slice(folder.length), [text, ...decoded].join('\n')];
    });
}

async function ready(server: ChildProcess): Promise<void> {
  const signal = AbortSignal.timeout(startLimitMs);
  for await (const [chunk] of on(server.stdout as NodeJS.ReadableStream, 'data', { signal })) {
    if (/Ready in/.test(String(chunk))) return;
  }
}
