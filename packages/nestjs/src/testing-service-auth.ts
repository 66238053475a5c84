import { createAccessToken } from '@service-auth/core';
import type { ServiceAuth } from './service-auth.ts';

/** Options of {@link createTestingServiceAuth}. */
export interface TestingServiceAuthOptions {
  /** The value of the token. Default `test-token`. */
  token?: string | undefined;
}

const dayMs = 86_400_000;

/**
 * A client for tests: it always has the same token, sends nothing and spends nothing. `covers()` is true everywhere, so that an HTTP client under
 * test shows its `Authorization` header to whatever stands in for the API. For `overrideProvider(ServiceAuth).useValue(…)`.
 */
export function createTestingServiceAuth(options: TestingServiceAuthOptions = {}): ServiceAuth {
  const now = Date.now();
  const token = createAccessToken('test', options.token ?? 'test-token', now, now + dayMs);
  const usage = { limit: 150, usable: 150, used: 0, pending: 0, remaining: 150, windowMs: dayMs };
  const nothing = async (): Promise<void> => {};
  return {
    covers: () => true,
    async getToken({ signal } = {}) {
      signal?.throwIfAborted();
      return token;
    },
    peekToken: () => token,
    getUsage: async () => ({ ...usage, nextFreeAt: undefined, refusedUntil: undefined, windows: [], issuances: [] }),
    subscribe: () => () => {},
    invalidate: nothing,
    reset: nothing,
    close: nothing,
    [Symbol.asyncDispose]: nothing,
  };
}
