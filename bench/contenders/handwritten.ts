// What people write themselves, and the least that any solution has to do.

import type { Issued } from './request-token.ts';

export type Ask = () => Promise<Issued>;

const marginMs = 60_000;

/** The least that tells a fresh token from an expired one: a property, and a look at the clock. */
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

/** The cache of careful applications: whoever comes second waits for the first. */
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
}
