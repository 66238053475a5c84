import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServiceAuthFromEnv, isServiceAuthError, memoryStore, type TransportRequest } from '@service-auth/core';
import { privateKeyJwt } from '@service-auth/core/oauth2';
import { describe, expect, test } from 'vitest';
import { serverAnswers } from '../src/server-answers.ts';

const page = readFileSync(new URL('../../../docs/servers.md', import.meta.url), 'utf8');
/** The sections of the servers, by their headings. */
const sections = new Map(
  page
    .split(/^## /m)
    .filter((section) => section.includes('\nSource: '))
    .map((section) => [section.slice(0, section.indexOf('\n')), section]),
);
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const key = privateKey.export({ format: 'pem', type: 'pkcs8' });

test('each server of the page has its answers', () => {
  expect([...sections.keys()]).toEqual(Object.keys(serverAnswers));
});

describe.each([...sections])('%s', (name, section) => {
  const { token: answer = {}, refusals = [], assertion } = serverAnswers[name] ?? {};
  const variables = Object.fromEntries(
    [...section.matchAll(/^(SERVICE_AUTH_\w+)='(.*)'$/gm)].map(([, variable = '', value]) => [variable, value]),
  );
  const [, code = '{}'] = /^In code: `createServiceAuthFromEnv\(process\.env, (.*)\)`\.$/m.exec(section) ?? [];
  const options = new Function('privateKeyJwt', 'key', `return ${code}`)(privateKeyJwt, key);

  /** A client as the page describes it, in front of a server that answers so. */
  function clientOf(status: number, body: string) {
    const requests: TransportRequest[] = [];
    const auth = createServiceAuthFromEnv(variables, {
      store: memoryStore(),
      async transport(request) {
        requests.push(request);
        return { status, headers: { 'content-type': 'application/json' }, body };
      },
      ...options,
    });
    return { auth, requests };
  }

  test('gets a request as the variables say, and its token is used for its life', async () => {
    const { auth, requests } = clientOf(200, JSON.stringify(answer));
    const token = await auth.getToken();
    expect(token.value).toBe(answer['access_token']);
    expect(token.authorization).toBe(`${variables['SERVICE_AUTH_SCHEME'] ?? 'Bearer'} ${token.value}`);
    expect((token.expiresAt - token.issuedAt) / 1_000).toBe(Number(answer['expires_in'] ?? 86_400));
    const { url, headers, body } = requests[0] as TransportRequest;
    expect([requests.length, url]).toEqual([1, variables['SERVICE_AUTH_TOKEN_ENDPOINT']]);
    const fields = Object.fromEntries(new URLSearchParams(body));
    const isBasic = variables['SERVICE_AUTH_CLIENT_AUTHENTICATION'] === 'client_secret_basic';
    expect(headers['authorization']).toBe(isBasic ? `Basic ${btoa('your-client:your-secret')}` : undefined);
    expect(fields['client_id']).toBe(isBasic ? undefined : 'your-client');
    expect(fields['scope']).toBe(variables['SERVICE_AUTH_SCOPE']);
    const signed = fields['client_assertion']?.split('.').slice(0, 2) ?? [];
    const said = signed.map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()));
    if (assertion) expect(Object.assign({}, ...said)).toMatchObject(assertion);
    else expect(said).toEqual([]);
    expect(fields['audience']).toBe(variables['SERVICE_AUTH_AUDIENCE']);
    await auth.close();
  });

  // | 401 `invalid_client` | wrong secret | about the client |
  const rows = [...section.matchAll(/^\| (\d+)(?: `(.*)`)? \| (.*) \| (?:about the |`)(\w+)`? \|$/gm)];

  test('refuses in as many ways as the page says', () => {
    expect(rows.map(([, , error]) => error)).toEqual(
      refusals.map((body) => {
        const { error, __type: type = error } = JSON.parse(body || '{}');
        return type;
      }),
    );
  });

  for (const [index, [, status, , means, about]] of rows.entries()) {
    test(`answers ${status}: ${means}`, async () => {
      const { auth } = clientOf(Number(status), refusals[index] ?? '');
      const error: unknown = await auth.getToken().catch((reason: unknown) => reason);
      if (!isServiceAuthError(error)) throw error;
      expect(error.code === 'ERR_CREDENTIALS_REJECTED' ? error.about : error.code).toBe(about);
      // A provider that counts requests counts this one.
      const { used, counts } = await auth.getUsage();
      expect(used).toBe(counts ? 1 : 0);
      await auth.close();
    });
  }
});
