// Handwritten solutions, and the least work that any solution must do.

import type { Issued } from './request-token.ts';

export type Ask = () => Promise<Issued>;

const marginMs = 60_000;

/** The minimal check for a fresh token: one property and one read of the clock. */
export function createLimit(issued: Issued): { peek(): string | undefined; get(): Promise<string> } {
  const cached = { value: issued.value, until: issued.expiresAt - marginMs };
  return {
    peek: () => (Date.now() < cached.until ? cached.value : undefined),
    get: async () => (Date.now() < cached.until ? cached.value : ''),
  };
}

/** The cache of most applications. Everybody who comes while there is no token asks for one. */
export function createNaiveCache(ask: Ask): () => Promise<string> {
  let cached: Issued | undefined;
  return async () => {
    if (!cached || Date.now() >= cached.expiresAt - marginMs) cached = await ask();
    return cached.value;
  };
}

/** The cache of careful applications: later callers wait for the first one. */
export class SingleFlightCache {
  readonly #ask: Ask;
  #cached: Issued | undefined;
  #flight: Promise<Issued> | undefined;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  async getToken(): Promise<string> {
    if (this.#cached && Date.now() < this.#cached.expiresAt - marginMs) return this.#cached.value;
    this.#flight ??= this.#ask().finally(() => {
      this.#flight = undefined;
    });
    this.#cached = await this.#flight;
    return this.#cached.value;
  }

  /** The API answered 401 to the token. */
  forget(): void {
    this.#cached = undefined;
  }
}
