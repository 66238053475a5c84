/**
 * A bearer token (RFC 6750). If you inspect or serialise it, it shows the id and the times, never
 * the value. As a string it says `use token.authorization`, with a character that no header may
 * have: `Bearer ${token}` fails before it is sent.
 */
export interface AccessToken {
  /** Identifies the token in the whole fleet and in `getUsage().issuances`. It is safe to log. */
  readonly id: string;
  /**
   * When the token was requested, in epoch milliseconds of this machine's clock: its lifetime
   * before `expiresAt`.
   */
  readonly issuedAt: number;
  /**
   * When the token expires, in epoch milliseconds of this machine's clock. It is for display: the
   * life of the token is counted by the monotonic clock. If somebody sets the clock, the next call
   * returns the same token as another object, with its expiry by the new time of that clock.
   */
  readonly expiresAt: number;
  /** The token, usually a JWT. */
  readonly value: string;
  /**
   * The option `scheme`, by default `Bearer`, a space and the token: ready for the `Authorization`
   * header.
   */
  readonly authorization: string;
}

class SealedAccessToken implements AccessToken {
  readonly id: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
  // Both forms share the memory of this string: the value is a slice of it. Neither scheme nor
  // token has a space.
  readonly #authorization: string;

  constructor(id: string, authorization: string, issuedAt: number, expiresAt: number) {
    this.id = id;
    this.issuedAt = issuedAt;
    this.expiresAt = expiresAt;
    this.#authorization = authorization;
    Object.freeze(this);
  }

  get value(): string {
    return this.#authorization.slice(this.#authorization.indexOf(' ') + 1);
  }

  get authorization(): string {
    return this.#authorization;
  }

  toJSON(): object {
    return { ...this };
  }

  // The arrow is beyond Latin-1, so every HTTP client refuses it in a header.
  toString(): string {
    return `AccessToken ${this.id} \u2192 use token.authorization`;
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return `AccessToken ${this.id} (${new Date(this.issuedAt).toISOString()} to ${new Date(this.expiresAt).toISOString()})`;
  }
}

/** Creates a token. `scheme`: the word before it in an `Authorization` header. */
export function createAccessToken(
  id: string,
  value: string,
  issuedAt: number,
  expiresAt: number,
  scheme = 'Bearer',
): AccessToken {
  return new SealedAccessToken(id, `${scheme} ${value}`, issuedAt, expiresAt);
}

/** Returns the word before a token in an `Authorization` header. */
export function schemeOf({ authorization }: AccessToken): string {
  return authorization.slice(0, authorization.indexOf(' '));
}
