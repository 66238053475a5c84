import type { TokenClaims } from './signing-key.ts';

/** The kinds of secrets that the test service tells apart. */
export type SecretKind = 'access token' | 'client secret';

/** Knows every secret of a service, so that tests can search texts for leaks. */
export interface SecretFinder {
  addToken(token: string, claims: TokenClaims): void;
  addClientSecret(clientSecret: string): void;
  /** The claims of a token that was added. */
  claimsOf(token: string): TokenClaims | undefined;
  find(text: string): SecretKind[];
}

export function createSecretFinder(): SecretFinder {
  const tokens = new Map<string, TokenClaims>();
  const clientSecrets = new Set<string>();

  // The header of a token is equal in all tokens and no secret. Each of the other two parts
  // identifies a token.
  const containsToken = (text: string): boolean =>
    [...tokens.keys()].some((token) => token.split('.').some((part, index) => index > 0 && text.includes(part)));

  return {
    addToken: (token, claims) => void tokens.set(token, claims),
    addClientSecret: (clientSecret) => void clientSecrets.add(clientSecret),
    claimsOf: (token) => tokens.get(token),
    find(text) {
      const found: SecretKind[] = [];
      if (containsToken(text)) found.push('access token');
      if ([...clientSecrets].some((secret) => text.includes(secret))) found.push('client secret');
      return found;
    },
  };
}
