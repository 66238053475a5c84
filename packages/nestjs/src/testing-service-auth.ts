import type { AccessToken, Usage } from '@service-auth/core';
import type { ServiceAuth } from './service-auth.ts';

/** Options of {@link createTestingServiceAuth}. */
export interface TestingServiceAuthOptions {
  /** The value of the token. Default `test-token`. */
  token?: string | undefined;
  /** The word before the token in its `authorization`. Default `Bearer`. */
  scheme?: string | undefined;
}

const dayMs = 86_400_000;
const window = { usable: 150, used: 0, pending: 0, remaining: 150, nextFreeAt: undefined, windowMs: dayMs };

const unspent: Usage = {
  ...window,
  limit: 150,
  underWay: 0,
  unknown: 0,
  availableNow: 150,
  available: { cold: 150, refresh: 150, rejected: 150, reset: 150 },
  refusedUntil: undefined,
  refusedBecause: undefined,
  newRecord: undefined,
  spentAt: undefined,
  windows: [{ ...window, tokens: 150, own: true }],
  holds: [],
  tokens: [],
  recordId: undefined,
  storeAheadMs: 0,
  warnings: [],
  issuances: [],
  resets: [],
  spentElsewhere: undefined,
};

/**
 * A client for tests: it always has the same token, sends nothing and spends nothing. `covers()` is
 * true everywhere, so that an HTTP client under test shows its `Authorization` header to whatever
 * stands in for the API. For `overrideProvider(ServiceAuth).useValue(…)`.
 */
export function createTestingServiceAuth(options: TestingServiceAuthOptions = {}): ServiceAuth {
  const issuedAt = Date.now();
  const { token: value = 'test-token', scheme = 'Bearer' } = options;
  const shown = { id: 'test', issuedAt, expiresAt: issuedAt + dayMs };
  // As with a real token, printing it does not show the value, and as a string it has a character
  // that no header may have.
  const token = Object.defineProperties(shown, {
    value: { value },
    authorization: { value: `${scheme} ${value}` },
    toString: { value: () => `AccessToken ${shown.id} \u2192 use token.authorization` },
  }) as AccessToken;
  const nothing = async (): Promise<void> => {};
  const client: ServiceAuth = {
    covers: () => true,
    for: () => client,
    async getToken({ signal } = {}) {
      signal?.throwIfAborted();
      return token;
    },
    peekToken: () => token,
    getUsage: async () => ({ ...unspent, tokens: [{ ...shown, audience: 'test' }] }),
    subscribe: () => () => {},
    invalidate: nothing,
    reset: async () => ({ tokenId: shown.id, retryAt: undefined }),
    retryNow: async () => ({ ended: [], retryAt: undefined }),
    close: nothing,
    [Symbol.asyncDispose]: nothing,
  };
  return client;
}
