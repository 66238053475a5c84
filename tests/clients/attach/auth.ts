import { type AccessToken, createServiceAuth, type TokenSource } from '@service-auth/core';
import { settledToken } from '@service-auth/core/http';

/** Covers every request, and has another token after each 401. */
function createSourceForAll(): TokenSource {
  const next = (id: number): AccessToken => {
    const value = `token-${id}`;
    const issuedAt = Date.now();
    return { id: `${id}`, issuedAt, expiresAt: issuedAt + 86_400_000, value, authorization: `Bearer ${value}` };
  };
  let token = next(1);
  let promise = Promise.resolve(token);
  // The adapters do not wait for this one, as in a process that has a token.
  settledToken(promise);
  return {
    baseUrl: 'http://localhost',
    covers: (url) => URL.canParse(`${url}`) && /^https?:$/.test(new URL(url).protocol),
    getToken: ({ signal } = {}) => (signal?.aborted ? Promise.reject(signal.reason) : promise),
    peekToken: () => token,
    async invalidate(rejected) {
      if (rejected.id !== token.id) return;
      token = next(Number(token.id) + 1);
      promise = Promise.resolve(token);
    },
  };
}

/** What a suite runs with. For a foreign address it is a client that covers none of the suite's requests. */
export const auth: TokenSource =
  process.env['COVERED'] === 'all'
    ? createSourceForAll()
    : createServiceAuth({
        authUrl: 'https://auth.example.com',
        baseUrl: 'https://api.example.com/orders',
        audience: 'orders',
        clientId: 'suite',
        clientSecret: 'secret',
      });
