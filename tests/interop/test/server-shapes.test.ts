import { readFileSync } from 'node:fs';
import { createServiceAuthFromEnv, isServiceAuthError, memoryStore, type TransportRequest } from '@service-auth/core';
import { describe, expect, test } from 'vitest';
import { type ServerShape, sectionOf } from '../src/server-shape.ts';
import { serverShapes } from '../src/server-shapes.ts';

const page = readFileSync(new URL('../../../docs/servers.md', import.meta.url), 'utf8');

/** A client as the page describes it, in front of a server that answers so. */
function clientOf({ variables, options }: ServerShape, status: number, body: string) {
  const requests: TransportRequest[] = [];
  const auth = createServiceAuthFromEnv(variables, {
    store: memoryStore(),
    async transport(request) {
      requests.push(request);
      return { status, headers: { 'content-type': 'application/json' }, body };
    },
    ...options?.value,
  });
  return { auth, requests };
}

describe.each(serverShapes.map((shape) => [shape.name, shape] as const))('%s', (_, shape) => {
  test('has its part of the page', () => {
    expect(page).toContain(`${sectionOf(shape)}\n`);
  });

  test('gets a request as the variables say, and its token is used for its life', async () => {
    const { auth, requests } = clientOf(shape, 200, JSON.stringify(shape.answer));
    const token = await auth.getToken();
    expect(token.value).toBe(shape.answer['access_token']);
    expect(token.authorization).toBe(`${shape.variables['SERVICE_AUTH_SCHEME'] ?? 'Bearer'} ${token.value}`);
    expect((token.expiresAt - token.issuedAt) / 1_000).toBe(shape.lifetimeSeconds);
    const { url, headers, body } = requests[0] as TransportRequest;
    expect([requests.length, url]).toEqual([1, shape.variables['SERVICE_AUTH_TOKEN_ENDPOINT']]);
    const fields = Object.fromEntries(new URLSearchParams(body));
    const isBasic = shape.variables['SERVICE_AUTH_CLIENT_AUTHENTICATION'] === 'client_secret_basic';
    expect(headers['authorization']).toBe(isBasic ? `Basic ${btoa('your-client:your-secret')}` : undefined);
    expect(fields['client_id']).toBe(isBasic ? undefined : 'your-client');
    expect(fields['scope']).toBe(shape.variables['SERVICE_AUTH_SCOPE']);
    const signed = fields['client_assertion']?.split('.').slice(0, 2) ?? [];
    const said = signed.map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()));
    if (shape.assertion) expect(Object.assign({}, ...said)).toMatchObject(shape.assertion);
    else expect(said).toEqual([]);
    expect(fields['audience']).toBe(shape.variables['SERVICE_AUTH_AUDIENCE']);
    await auth.close();
  });

  for (const { status, body, means, about } of shape.refusals) {
    test(`answers ${status}: ${means}`, async () => {
      const { auth } = clientOf(shape, status, body);
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
