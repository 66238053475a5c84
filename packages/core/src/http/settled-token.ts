import type { AccessToken } from '../contract/access-token.ts';

const tokens = new WeakMap<Promise<AccessToken>, AccessToken>();

/**
 * Returns the token of a promise of `getToken()` that has been here before, and was fulfilled
 * since. The client returns the same promise until it has another token, so a request need not wait
 * for it again: that would take longer than the rest of an adapter. Undefined: wait for the
 * promise.
 */
export function settledToken(promise: Promise<AccessToken>): AccessToken | undefined {
  const token = tokens.get(promise);
  if (!token) promise.then((settled) => tokens.set(promise, settled)).catch(() => {});
  return token;
}
