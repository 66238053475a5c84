/** A bearer token (RFC 6750) and what is known about it. Printing, inspecting or serialising it shows the id and the times, never the value. */
export interface AccessToken {
  /** Safe to log. The same token has the same id in the whole fleet and in `getUsage().issuances`. */
  readonly id: string;
  /** When the request for it was sent, in epoch milliseconds of this machine's clock. */
  readonly issuedAt: number;
  /** When the API stops accepting it, in epoch milliseconds of this machine's clock. For display; `getToken()` judges freshness without it. */
  readonly expiresAt: number;
  /** The JWT. */
  readonly value: string;
  /** `Bearer ` and the JWT, ready for the `Authorization` header. */
  readonly authorization: string;
}

const scheme = 'Bearer ';

class SealedAccessToken implements AccessToken {
  readonly id: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
  // One string for both forms: the value is a slice that shares its memory.
  readonly #authorization: string;

  constructor(id: string, value: string, issuedAt: number, expiresAt: number) {
    this.id = id;
    this.issuedAt = issuedAt;
    this.expiresAt = expiresAt;
    this.#authorization = scheme + value;
    Object.freeze(this);
  }

  get value(): string {
    return this.#authorization.slice(scheme.length);
  }

  get authorization(): string {
    return this.#authorization;
  }

  toJSON(): object {
    return { ...this };
  }

  toString(): string {
    return `AccessToken ${this.id} (${new Date(this.issuedAt).toISOString()} to ${new Date(this.expiresAt).toISOString()})`;
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return this.toString();
  }
}

/** Wraps a token value so that it cannot be printed by accident. For adapters' tests; clients get theirs from `getToken()`. */
export function createAccessToken(id: string, value: string, issuedAt: number, expiresAt: number): AccessToken {
  return new SealedAccessToken(id, value, issuedAt, expiresAt);
}
