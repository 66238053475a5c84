import type { IssuedToken, Issuer } from './judge/scene.ts';
import type { World } from './world.ts';

interface ServiceToken extends IssuedToken {
  statedMs: number;
  revoked: boolean;
}

/** What every client says to get tokens, until the secret is rotated. */
export const credentials = {
  authUrl: 'https://auth.example.com',
  clientId: 'client',
  clientSecret: 'CANARY-secret-1',
} as const;

/** The service of the interface document: issues tokens to every client with the secret, and counts them. It enforces no limit, because the limit is the subject of the test. */
export interface Service extends Issuer {
  /** Issues a token if the body is right. */
  receive(body: string, requestedAt: number, machine: string): { readonly status: number; readonly body: string };
  /** The API's current answer to a bearer token. */
  status(value: string): 200 | 401;
  token(value: string): ServiceToken | undefined;
  revokeAll(): void;
  /** A new secret; the old one is accepted for a while. */
  rotate(secret: string, graceMs: number): void;
  readonly issued: readonly ServiceToken[];
}

/** Creates the service. `issued`: called after every token. `paddingOf`: makes tokens longer. `repeats`: it returns one token until that expires. */
export function createService(
  world: World,
  secret: string,
  lifetimeMs: (audience: string) => number,
  issued: (token: ServiceToken) => void = () => {},
  paddingOf: () => string = () => '',
  repeats = false,
): Service {
  const tokens: ServiceToken[] = [];
  const byValue = new Map<string, ServiceToken>();
  let secrets = [{ secret, until: Number.POSITIVE_INFINITY }];

  function issue(audience: string, requestedAt: number, machine: string): ServiceToken {
    const life = lifetimeMs(audience);
    const token: ServiceToken = {
      value: `CANARY-token-${tokens.length + 1}${paddingOf()}`,
      audience,
      machine,
      requestedAt,
      issuedAt: world.now,
      expiresAt: world.now + life,
      lifetimeMs: life,
      statedMs: life,
      revoked: false,
    };
    tokens.push(token);
    byValue.set(token.value, token);
    world.note(`ISSUED ${token.value} for ${audience}`);
    issued(token);
    return token;
  }

  return {
    receive(body, requestedAt, machine) {
      const { audience, grant_type, client_id, client_secret } = JSON.parse(body) as Record<string, string>;
      const known = secrets.some((candidate) => candidate.secret === client_secret && world.now < candidate.until);
      if (!known || grant_type !== 'client_credentials' || client_id !== 'client' || audience === undefined) {
        return { status: 401, body: '{"error":"invalid_client"}' };
      }
      const present = repeats ? tokens.findLast((token) => token.audience === audience) : undefined;
      const leftSeconds = present && !present.revoked ? Math.floor((present.expiresAt - world.now) / 1_000) : 0;
      const token = present && leftSeconds > 0 ? present : issue(audience, requestedAt, machine);
      if (token === present) token.statedMs = leftSeconds * 1_000;
      const answer = { access_token: token.value, token_type: 'Bearer', expires_in: token.statedMs / 1_000 };
      return { status: 200, body: JSON.stringify(answer) };
    },
    status(value) {
      const token = byValue.get(value);
      return token !== undefined && !token.revoked && world.now < token.expiresAt ? 200 : 401;
    },
    token: (value) => byValue.get(value),
    revokeAll() {
      for (const token of tokens) token.revoked = true;
    },
    rotate(next, graceMs) {
      secrets = [
        ...secrets.map((old) => ({ ...old, until: Math.min(old.until, world.now + graceMs) })),
        { secret: next, until: Number.POSITIVE_INFINITY },
      ];
    },
    issuedSince(since) {
      let count = 0;
      for (let index = tokens.length - 1; index >= 0 && (tokens[index] as ServiceToken).issuedAt > since; index--)
        count++;
      return count;
    },
    issued: tokens,
  };
}
