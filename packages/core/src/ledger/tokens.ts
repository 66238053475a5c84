import { type LedgerRecord, maxLifetimeMs, raised, type StoredToken } from './journal.ts';

export function revokedOf({ revoked }: LedgerRecord, audience: string): number {
  return revoked[audience] ?? 0;
}

/** Returns the token of an audience under one key, unless it was reset. */
export function tokenOf(record: LedgerRecord, audience: string, keyId: string): StoredToken | undefined {
  const token = record.tokens.find((token) => token.audience === audience && token.keyId === keyId);
  return token && token.generation > revokedOf(record, audience) ? token : undefined;
}

/** Returns the tokens that were not reset and have not expired. */
export function tokensInUse(record: LedgerRecord, now: number): StoredToken[] {
  return record.tokens.filter((token) => {
    return token.expiresAt > now && token.generation > revokedOf(record, token.audience);
  });
}

/** Returns the record in which the tokens of an audience are reset up to a generation. Those that are still being requested are included. */
export function revoke(record: LedgerRecord, audience: string, upTo: number): LedgerRecord {
  return { ...record, revoked: raised(record.revoked, audience, upTo) };
}

/** Returns whether a token that was reset may still be in use. */
export function isRemembered(revoked: number, now: number): boolean {
  return revoked + maxLifetimeMs > now;
}

/** Returns the margin: a token is served only while it has more life left than this. */
export function marginOf(lifetimeMs: number): number {
  return Math.min(60_000, lifetimeMs / 10);
}
