import { createAccessToken } from '../contract/access-token.ts';
import type { Settings } from '../contract/settings.ts';
import type { IssuedToken } from '../endpoint/token-response.ts';
import { marginOf, type Spent, type StoredToken } from '../ledger/record.ts';
import type { Instant } from '../platform/instant.ts';
import { open, type SealingKey, seal } from '../record/seal.ts';
import { toLocalTime, type View } from '../record/view.ts';
import type { UsableToken } from './cached-token.ts';

/**
 * Converts a token between three forms: as the endpoint issued it, as the fleet stores it, and as
 * this process uses it.
 */
export interface UsableTokens {
  issued(reserved: Spent, token: IssuedToken, sentAt: Instant): UsableToken;
  /**
   * Seals an issued token for the store. `view`: the record with the reservation. Never rejects.
   */
  stored(
    reserved: Spent,
    token: IssuedToken,
    view: View,
    key: SealingKey,
    hash: string | undefined,
  ): Promise<StoredToken>;
  /**
   * Opens a stored token. Undefined: the token was not sealed with this key for this client and
   * audience.
   */
  opened(stored: StoredToken, view: View, key: SealingKey): Promise<UsableToken | undefined>;
}

/** Creates the conversions for one client and audience. */
export function createUsableTokens({ tokenName: name, clock, endpoint, scheme }: Settings): UsableTokens {
  /** Returns the context in which alone the sealed token opens. The client is part of the key. */
  function contextOf({ id, generation, lifetimeMs }: Pick<StoredToken, 'id' | 'generation' | 'lifetimeMs'>): string[] {
    return [endpoint, name, id, `${generation}`, `${lifetimeMs}`];
  }

  return {
    issued({ id, generation }, { value, lifetimeMs }, sentAt) {
      const token = createAccessToken(id, value, sentAt.wall, sentAt.wall + lifetimeMs, scheme);
      const usableUntil = sentAt.monotonic + lifetimeMs - marginOf(lifetimeMs);
      return { token, generation, adopted: false, lifetimeMs, countedFrom: sentAt, usableUntil };
    },

    async stored({ id, generation, keyId }, { value, lifetimeMs }, view, key, hash) {
      // The life counts from the reservation, so this expiry is never later than the true one.
      const expiresAt = view.now + lifetimeMs;
      const sealing = () => seal(key, value, contextOf({ id, generation, lifetimeMs }));
      // WebCrypto may fail once, or each time. The token then has an empty text, which nobody can
      // open, but it is counted, and this process uses it.
      const sealed = await sealing()
        .catch(sealing)
        .catch(() => '');
      return { name, keyId, id, generation, expiresAt, lifetimeMs, sealed, hash };
    },

    async opened({ id, generation, expiresAt, lifetimeMs, sealed }, view, key) {
      const value = await open(key, sealed, contextOf({ id, generation, lifetimeMs }));
      if (value === undefined) return undefined;
      const localExpiry = toLocalTime(expiresAt, view, clock);
      const token = createAccessToken(id, value, localExpiry - lifetimeMs, localExpiry, scheme);
      const usableUntil = view.readAt.monotonic + expiresAt - view.now - marginOf(lifetimeMs);
      return { token, generation, adopted: true, lifetimeMs, countedFrom: view.readAt, usableUntil };
    },
  };
}
