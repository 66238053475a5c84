import type { AccessToken, Clock, ServiceAuth } from '@service-auth/core';
import { shortestLifeMs } from './token-answer.ts';

// Core reads the record again after 25 seconds, and before it serves a token after 28. So callers
// never wait for that.
const lookEveryMs = 20_000;
const lookAfterFailureMs = 5_000;

/** A token that is renewed although nobody asks for it. */
export interface KeptToken {
  /**
   * Returns a token with its remaining life in milliseconds.
   * @throws the errors of `getToken()`
   */
  get(signal?: AbortSignal): Promise<{ readonly token: AccessToken; readonly leftMs: number }>;
  /** The caller says that the API answered 401 to this token. */
  reject(value: string): Promise<void>;
  /** Returns whether a caller would be refused at this moment. */
  isRefused(): boolean;
  /** The remaining life of the present token in milliseconds. Undefined: there is none. */
  leftMs(): number | undefined;
  /** Resolves when the first attempt to get a token has ended. */
  readonly tried: Promise<void>;
  start(): void;
  stop(): void;
}

/** Keeps a token. Core renews one only when it is asked, and here nobody may ask for hours. */
export function keepToken(auth: ServiceAuth, clock: Clock): KeptToken {
  let seen: { readonly token: AccessToken; readonly deadline: number } | undefined;
  let failed = false;
  let stopped = false;
  let cancel = () => {};
  let hasTried = () => {};
  const tried = new Promise<void>((resolve) => {
    hasTried = resolve;
  });

  /** One clock may step, and the other may stand still during sleep. The shorter life is safe. */
  function lifeOf(token: AccessToken): number {
    const left = token.expiresAt - clock.now();
    if (seen?.token !== token) seen = { token, deadline: clock.monotonic() + left };
    return Math.min(left, seen.deadline - clock.monotonic());
  }

  async function asked(signal: AbortSignal | undefined): Promise<AccessToken> {
    const token = await auth.getToken({ signal });
    const lifetimeMs = token.expiresAt - token.issuedAt;
    // Tokens that live for less than two minutes would be renewed all the time.
    const isWorthIt = lifeOf(token) < shortestLifeMs && lifetimeMs >= 2 * shortestLifeMs;
    return isWorthIt ? auth.getToken({ signal, minLifeMs: shortestLifeMs }) : token;
  }

  async function get(signal?: AbortSignal) {
    try {
      const token = await asked(signal);
      failed = false;
      return { token, leftMs: lifeOf(token) };
    } catch (error) {
      // Core rejects only if it has no token that it may serve. The one before may have been reset.
      if (!signal?.aborted) {
        failed = true;
        seen = undefined;
      }
      throw error;
    }
  }

  async function look(): Promise<void> {
    await get().catch(() => {});
    hasTried();
    if (!stopped) cancel = clock.setTimer(() => void look(), failed ? lookAfterFailureMs : lookEveryMs);
  }

  const leftMs = () => seen && lifeOf(seen.token);
  return {
    get,
    async reject(value) {
      if (seen?.token.value === value) await auth.invalidate(seen.token);
    },
    isRefused: () => failed && (leftMs() ?? 0) < shortestLifeMs,
    leftMs,
    tried,
    start: () => void look(),
    stop() {
      stopped = true;
      cancel();
    },
  };
}
