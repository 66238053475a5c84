import type { AccessToken } from '../contract/access-token.ts';
import type { TokenSource } from '../contract/token-source.ts';

/** A function that resolves with the value of a token, for clients that take such a function. */
export interface TokenProvider {
  /**
   * Resolves with the value of a token: what follows `Bearer `, or the option `scheme`, in the
   * header. It ignores its arguments.
   * @throws the errors of `auth.getToken()`
   */
  (): Promise<string>;
  /**
   * Reports that the server rejected a token, so that the next call resolves with another one if
   * there is one. `value`: the token that was sent, with or without the scheme before it; default:
   * the token that the provider resolved with last. If you know which token was sent, give it: the
   * last one may be newer. Does nothing if the provider did not resolve with `value`, or did so
   * more than eight tokens ago. Never rejects.
   */
  rejected(value?: string): Promise<void>;
}

const maxKnownTokens = 8;

/**
 * Creates a {@link TokenProvider} for a client that takes only a function for the token and reports
 * no 401, such as kafkajs, gRPC or generated clients with `TOKEN`. Call `rejected()` when the
 * server rejects the token: without it, the client would send a revoked token until that token
 * expires. Such a client sends the token where it likes: `auth.covers()` is not asked.
 */
export function tokenProvider(auth: Pick<TokenSource, 'getToken' | 'invalidate'>): TokenProvider {
  const known = new Map<string, AccessToken>();
  let last: AccessToken | undefined;

  async function provide(): Promise<string> {
    last = await auth.getToken();
    const { value } = last;
    if (!known.has(value)) known.set(value, last);
    if (known.size > maxKnownTokens) known.delete(known.keys().next().value as string);
    return value;
  }

  async function rejected(value?: string): Promise<void> {
    const token = typeof value === 'string' ? known.get(value.replace(/^\S+ /, '')) : last;
    if (token) await auth.invalidate(token);
  }

  // The parameters of the client are not those of `getToken()`.
  return Object.assign(() => provide(), { rejected });
}
