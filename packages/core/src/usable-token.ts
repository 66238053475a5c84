import { createAccessToken } from './access-token.ts';
import type { UsableToken } from './cached-token.ts';
import type { Instant } from './instant.ts';
import { marginOf } from './ledger/decide.ts';
import type { StoredToken } from './ledger/record.ts';
import type { Settings } from './options.ts';
import { open, type SealingKey, seal } from './seal.ts';
import { toLocalTime, type View } from './shared-ledger.ts';
import type { IssuedToken } from './token-response.ts';

/** Converts between the three forms of a token: as it was issued, as the fleet stores it, and as this process uses it. */
export interface UsableTokens {
  issued(id: string, generation: number, token: IssuedToken, sentAt: Instant): UsableToken;
  /** What the store keeps, sealed. `view`: the record with the reservation. */
  stored(id: string, generation: number, token: IssuedToken, view: View, key: SealingKey): Promise<StoredToken>;
  /** Undefined: not sealed with this key for this client and audience. */
  opened(stored: StoredToken, view: View, key: SealingKey): Promise<UsableToken | undefined>;
}

/** Creates the conversions for one client and audience. */
export function createUsableTokens({ audience, clock, endpoint }: Settings): UsableTokens {
  /** What a sealed token is bound to, besides the client, to which its key belongs. */
  function contextOf(id: string, generation: number, expiresAt: number): string[] {
    return [endpoint, audience, id, `${generation}`, `${expiresAt}`];
  }

  return {
    issued(id, generation, { value, lifetimeMs }, sentAt) {
      const token = createAccessToken(id, value, sentAt.wall, sentAt.wall + lifetimeMs);
      const usableUntil = sentAt.monotonic + lifetimeMs - marginOf(lifetimeMs);
      return { token, generation, adopted: false, lifetimeMs, countedFrom: sentAt, usableUntil };
    },

    async stored(id, generation, { value, lifetimeMs }, view, key) {
      // Counted from the reservation: earlier than the true expiry, never later.
      const expiresAt = view.now + lifetimeMs;
      const sealed = await seal(key, value, contextOf(id, generation, expiresAt));
      return { id, generation, expiresAt, lifetimeMs, sealed };
    },

    async opened({ id, generation, expiresAt, aheadMs = 0, lifetimeMs, sealed }, view, key) {
      const value = await open(key, sealed, contextOf(id, generation, expiresAt + aheadMs));
      if (value === undefined) return undefined;
      const localExpiry = toLocalTime(expiresAt, view, clock);
      const token = createAccessToken(id, value, localExpiry - lifetimeMs, localExpiry);
      const usableUntil = view.readAt.monotonic + expiresAt - view.now - marginOf(lifetimeMs);
      return { token, generation, adopted: true, lifetimeMs, countedFrom: view.readAt, usableUntil };
    },
  };
}
