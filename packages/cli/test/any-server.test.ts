import { join } from 'node:path';
import { startTestService, type TestClientAuthentication } from '@service-auth/testing';
import { expect, test } from 'vitest';
import { emptyFolder, run } from './support/program.ts';

test.for<TestClientAuthentication>(['client_secret_basic', 'client_secret_post', 'private_key_jwt'])(
  'a service that wants %s is asked by its whole address, and its record is found by the issuer',
  async (clientAuthentication) => {
    await using service = await startTestService({ clientAuthentication });
    const { SERVICE_AUTH_URL: authUrl, SERVICE_AUTH_AUDIENCE: _, ...env } = service.env;
    const { SERVICE_AUTH_ISSUER: issuer = '', SERVICE_AUTH_CLIENT_ID: clientId = '' } = env;
    const store = `file:${join(emptyFolder(), 'store')}`;
    const key = 'a key for the tokens in the store, in all processes';
    const configured = {
      ...env,
      SERVICE_AUTH_STORE: store,
      ...(clientAuthentication === 'private_key_jwt' && { SERVICE_AUTH_STORE_KEY: key }),
    };
    const flags = ['--token-endpoint', `${authUrl}/oauth/token`, '--scope', 'read'];
    const issued = await run(['token', '--format', 'json', ...flags], { env: configured });
    expect([issued.code, issued.stderr]).toEqual([0, '']);
    expect(JSON.parse(issued.stdout)).toMatchObject({ tokenType: 'Bearer' });
    expect(service.tokenRequests.map(({ outcome }) => outcome)).toEqual(['issued']);

    const read = ['usage', '--json', '--store', store, '--client-id', clientId, '--issuer', issuer];
    const usage = await run(read, { env: {} });
    expect(usage.stderr).toBe('');
    expect(JSON.parse(usage.stdout)).toMatchObject({ used: 1, issuances: [{ audience: 'scope=read' }] });

    const reset = await run(['reset', '--yes', ...flags], { env: configured });
    expect(reset).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Token \S+ of scope=read was reset\./) });
  },
);
