import { createServiceAuth, memoryStore } from '@service-auth/core';
import { expect, test } from 'vitest';
import { sentenceOf } from '../src/line/exit.ts';
import { startFleet } from './support/fleet.ts';

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
    / service-auth usage shows who spent them\..* give all of them the same SERVICE_AUTH_TOKEN_LIMIT\./,
  );
  const wrong = createServiceAuth({ ...options, clientSecret: 'wrong', store: memoryStore() });
  expect(await saidBy(wrong.getToken())).toContain(
    'Check audience, SERVICE_AUTH_CLIENT_ID and SERVICE_AUTH_CLIENT_SECRET;',
  );
  fleet.service.tokenEndpoint.always({ status: 503 });
  const failing = createServiceAuth({ ...options, store: memoryStore() });
  expect(await saidBy(failing.getToken())).toContain('Check SERVICE_AUTH_URL and the endpoint;');
});
