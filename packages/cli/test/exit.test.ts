import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServiceAuth, memoryStore } from '@service-auth/core';
import { expect, test } from 'vitest';
import { sentenceOf } from '../src/line/exit.ts';
import { startFleet } from './support/fleet.ts';
import { emptyFolder, node, program } from './support/program.ts';
import { startCanaryService, variablesOf } from './support/world.ts';

test('errors of core name what a shell has: variables and commands', async () => {
  const fleet = await startFleet({ tokens: 2 });
  const { options } = fleet.service;
  const saidBy = async (call: Promise<unknown>) =>
    sentenceOf(
      await call.then(
        () => new Error('no error'),
        (error) => error,
      ),
    );
  await fleet.start('api').getToken();
  const limited = fleet.start('api', { issuanceLimit: { tokens: 150 }, audience: 'https://second.example/' });
  expect(await saidBy(limited.getToken())).toMatch(
    / service-auth explain names who spent them\..* give all of them the same SERVICE_AUTH_TOKEN_LIMIT\./,
  );
  const wrong = createServiceAuth({ ...options, clientSecret: 'wrong', store: memoryStore() });
  expect(await saidBy(wrong.getToken())).toContain(
    'Check audience, SERVICE_AUTH_CLIENT_ID and SERVICE_AUTH_CLIENT_SECRET;',
  );
  fleet.service.tokenEndpoint.always({ status: 503 });
  const failing = createServiceAuth({ ...options, store: memoryStore() });
  expect(await saidBy(failing.getToken())).toContain('Check SERVICE_AUTH_URL and the endpoint;');
});

test.runIf(existsSync('/dev/full'))(
  'output that a full disk does not take is a failure, one that nobody reads is none',
  async () => {
    const service = await startCanaryService();
    const env = { PATH: process.env['PATH'], ...variablesOf(service, `file:${emptyFolder()}`) };
    const ended = (command: string) =>
      new Promise((resolve) => {
        execFile('sh', ['-c', `"$0" "$1" ${command}`, node, program], { env }, (error, stdout, stderr) =>
          resolve({ code: error ? error.code : 0, stdout, stderr }),
        );
      });
    const stderr = 'service-auth: the output cannot be written (ENOSPC)\n';
    expect(await ended('token > /dev/full')).toEqual({ code: 1, stdout: '', stderr });
    expect(await ended('record export > /dev/full')).toMatchObject({ code: 1, stderr });
    expect(await ended('check > /dev/full')).toMatchObject({ code: 3, stderr });
    expect(await ended('--help | head -n 1; test 0')).toMatchObject({ code: 0, stderr: '' });
  },
);

test('a variable that core names beside its option is named once', () => {
  const error = new Error('[service-auth] Name it in recognizedTokenTypes (SERVICE_AUTH_TOKEN_TYPES).');
  expect(sentenceOf(error)).toBe('Name it in SERVICE_AUTH_TOKEN_TYPES.');
});
