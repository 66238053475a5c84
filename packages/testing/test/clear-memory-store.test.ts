import { createRequire } from 'node:module';
import { createServiceAuth, type ServiceAuthOptions } from '@service-auth/core';
import { clearMemoryStore, startTestService, type TestService } from '@service-auth/testing';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';

const require = createRequire(import.meta.url);

/** The copies of core that a process may have. */
const copies: Readonly<Record<string, () => Promise<typeof import('@service-auth/core')>>> = {
  'this module': () => import('@service-auth/core'),
  'a module that vi.resetModules() loaded again': () => {
    vi.resetModules();
    return import('@service-auth/core');
  },
  'a module of require()': async () => require('@service-auth/core'),
};

describe('two tests with the default store', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
    return () => service.close();
  });
  afterEach(() => clearMemoryStore());

  /** Gets a token, closes the client, and returns the id. */
  async function tokenOf(create: typeof createServiceAuth, options: Partial<ServiceAuthOptions> = {}): Promise<string> {
    await using auth = create({ ...service.options, ...options });
    return (await auth.getToken()).id;
  }

  test.each(Object.entries(copies))(
    'share a token after close(), also with %s, unless the memory is cleared',
    async (_, load) => {
      const first = await tokenOf(createServiceAuth);
      expect(await tokenOf((await load()).createServiceAuth)).toBe(first);
      clearMemoryStore();
      expect(await tokenOf((await load()).createServiceAuth)).not.toBe(first);
    },
  );

  test('share a refusal of the limit, unless the memory is cleared', async () => {
    const limited = { issuanceLimit: { tokens: 1 } };
    await tokenOf(createServiceAuth, limited);
    const another = { ...limited, audience: 'https://another.example/' };
    await expect(tokenOf(createServiceAuth, another)).rejects.toMatchObject({ code: 'ERR_ISSUANCE_LIMIT' });
    clearMemoryStore();
    service.tokenEndpoint.next({ status: 503 });
    await expect(tokenOf(createServiceAuth, limited)).rejects.toMatchObject({ code: 'ERR_TOKEN_ENDPOINT' });
    clearMemoryStore();
    expect(await tokenOf(createServiceAuth, limited)).toEqual(expect.any(String));
  });
});
