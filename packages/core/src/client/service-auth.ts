import type { AccessToken } from '../contract/access-token.ts';
import { configError } from '../contract/config-problems.ts';
import type { ServiceAuthEventListener, SubscribeOptions } from '../contract/events.ts';
import type { ServiceAuthOptions } from '../contract/options.ts';
import type { CheckedOptions, CommonSettings } from '../contract/settings.ts';
import type { GetTokenOptions, TokenSource } from '../contract/token-source.ts';
import { instantOf } from '../platform/clock.ts';
import type { Instant } from '../platform/instant.ts';
import { within } from '../platform/pause.ts';
import { isYoung, servableLifeMs } from '../token/cached-token.ts';
import { type CallerWait, callerWait, problemOf } from '../token/caller-wait.ts';
import { accepted, due, need, rejected, resetBegun, resetDone, retried } from '../token/memory.ts';
import { ignoringFailure } from '../token/running-flight.ts';
import { closedError } from '../token/token-errors.ts';
import { TokenKeeper } from '../token/token-keeper.ts';
import { distrust, isTrusted, type TrustedToken } from '../token/trusted-token.ts';
import {
  type ResetOptions,
  type ResetResult,
  type RetryResult,
  readUsage,
  reasonOf,
  resetTokens,
  retryNow,
} from '../usage/administration.ts';
import type { Usage } from '../usage/usage.ts';
import { resolveOptions } from './resolve-options.ts';

// Compilers and `lib`s from before explicit resource management have no such symbols. These are the declarations of `esnext.disposable`, which merge with them.
// A reference to that `lib` would not compile before TypeScript 5.2, and promise `DisposableStack`, which Node 20 lacks.
declare global {
  interface SymbolConstructor {
    readonly dispose: unique symbol;
    readonly asyncDispose: unique symbol;
  }
  interface Disposable {
    [Symbol.dispose](): void;
  }
  interface AsyncDisposable {
    [Symbol.asyncDispose](): PromiseLike<void>;
  }
}

const closeWithinMs = 2_000;
const soonMs = 1_000;

/** A client of the service for one audience and one client id. All clients with the same client id share one budget. */
export interface ServiceAuth extends TokenSource {
  /**
   * Reports that the token is compromised. When this has resolved, no `getToken()` of this process returns it, and 30 seconds later none of a process that can read the store.
   * The API still accepts the token until it expires or the provider revokes it. The token is dropped even if no replacement can be issued now: the
   * result says when one can. `getUsage().available.reset` says it before. If the fleet knows no token of the audience, no reset is written.
   * The token is the one that this process serves, which `peekToken()` returns. If another process reset it before, its replacement stays in use, so many
   * processes may report one token. If this process serves none, the token is whatever the fleet uses.
   * @throws `ERR_STORE` if the record could not be written; this process has dropped the token nevertheless, but the fleet has not.
   *   `ERR_STORE_INTEGRITY`, `ERR_CLIENT_SECRET`, `ERR_CONFIG`, `ERR_CLOSED`
   */
  reset(options?: ResetOptions): Promise<ResetResult>;
  /**
   * Ends all pauses of the fleet after failures, refusals and 401s, for the case that their cause is mended. A request that fails again goes on with the
   * pause that it had. The limit is kept. It has an effect once in 1, 2, 4 … 60 minutes.
   * @throws `ERR_STORE`, `ERR_STORE_INTEGRITY`, `ERR_CLOSED`
   */
  retryNow(): Promise<RetryResult>;
  /**
   * Returns which tokens of the limit are spent, by which process, when and why, and how many can be had. It reads the store and requests no token.
   * @throws `ERR_STORE`, `ERR_STORE_INTEGRITY`, `ERR_CLOSED`
   */
  getUsage(): Promise<Usage>;
  /**
   * Calls `listener` with each event, as `onEvent` is called, until the returned function is called. There may be any number of listeners. With
   * `operations` the listener gets an event for each operation of the store and for each attempt to get a token, too.
   * @throws `ERR_CONFIG` if `listener` is no function
   */
  subscribe(listener: ServiceAuthEventListener, options?: SubscribeOptions): () => void;
  /**
   * Ends all waits with `ERR_CLOSED`. If a token request is under way, waits up to 2 seconds until its outcome is in the store. Then aborts it, so that the
   * process can end; a token may have been issued, so it stays counted.
   */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Creates a client. It does no I/O before the first call. No timer renews a token: calls of `getToken()` start renewals ahead of expiry and do not wait
 * for them. If the store fails while an outcome is written, timers try again for about two minutes; they do not keep the process running.
 * @throws `ERR_CONFIG` with all problems of the options
 */
export function createServiceAuth(options: ServiceAuthOptions): ServiceAuth {
  return new Client(resolveOptions(options));
}

// Its methods are functions of each client, because people write `const { getToken } = auth`, or spread a client.
class Client implements ServiceAuth {
  readonly #settings: CommonSettings;
  readonly #keeper: TokenKeeper;
  readonly baseUrl: string | undefined;
  readonly covers: ServiceAuth['covers'];

  constructor(options: CheckedOptions) {
    this.#settings = options.common;
    this.#keeper = new TokenKeeper(options);
    this.baseUrl = options.common.baseUrl;
    this.covers = options.common.covers;
  }

  readonly getToken = (options?: GetTokenOptions): Promise<AccessToken> => {
    const problem = options && problemOf(options);
    if (problem) return Promise.reject(configError([problem]));
    if (options?.signal?.aborted) return Promise.reject(options.signal.reason);
    if (options?.minLifeMs) return this.#wait(options);
    const { trusted } = this.#keeper;
    if (trusted && isTrusted(trusted, this.#settings.clock)) return trusted.promise;
    distrust(trusted);
    const now = instantOf(this.#settings.clock);
    if (need(this.#keeper.memory, now) !== 'serve') return this.#wait(options);
    return this.#serve(now).promise;
  };

  readonly peekToken = (): AccessToken | undefined => {
    const { trusted } = this.#keeper;
    if (trusted && isTrusted(trusted, this.#settings.clock)) return trusted.token;
    const now = instantOf(this.#settings.clock);
    const needed = need(this.#keeper.memory, now);
    const isInProcess = this.#settings.store.durability === 'process';
    // This call starts no work that is due. If some is due, the token is not trusted, and the next `getToken()` starts it.
    distrust(trusted);
    return needed === 'serve' || (needed === 'revalidate' && isInProcess) ? this.#keeper.trust(now).token : undefined;
  };

  readonly invalidate = async (token: AccessToken): Promise<void> => {
    if (typeof token?.authorization !== 'string') return;
    const keeper = this.#keeper;
    const { memory, outcome } = rejected(keeper.memory, token.authorization, instantOf(this.#settings.clock));
    keeper.remember(memory);
    if (outcome === 'renew') keeper.reporters += 1;
    keeper.events.rejection(token.id, outcome);
  };

  readonly reportAccepted = (token: AccessToken): void => {
    this.#keeper.memory = accepted(this.#keeper.memory, token.id);
  };

  readonly reportBypass = (): void => this.#keeper.events.bypass();

  readonly reset = async (options?: ResetOptions): Promise<ResetResult> => {
    const keeper = this.#open();
    const reason = reasonOf(options);
    const { memory } = keeper;
    keeper.remember(resetBegun(memory));
    const { result, upTo } = await keeper.run((parts) => resetTokens(parts, memory, reason));
    keeper.remember(resetDone(keeper.memory, upTo));
    return result;
  };

  readonly retryNow = async (): Promise<RetryResult> => {
    const keeper = this.#open();
    const result = await keeper.run(retryNow);
    keeper.remember(retried(keeper.memory));
    return result;
  };

  readonly getUsage = async (): Promise<Usage> => {
    return this.#open().run(readUsage);
  };

  readonly subscribe = (listener: ServiceAuthEventListener, options?: SubscribeOptions): (() => void) => {
    return this.#keeper.events.subscribe(listener, options);
  };

  readonly close = async (): Promise<void> => {
    await within(closeWithinMs, this.#settings.clock, () => this.#keeper.close(closedError()));
    this.#keeper.letGo();
  };

  readonly [Symbol.asyncDispose] = (): Promise<void> => this.close();

  async #wait(options: GetTokenOptions | undefined): Promise<AccessToken> {
    const wait = callerWait(options?.signal, options?.maxWaitMs, this.#settings.clock);
    try {
      return await (options?.minLifeMs ? this.#obtainWithLife(options.minLifeMs, wait) : this.#obtain(wait));
    } catch (error) {
      this.#keeper.events.unavailable(wait.newsOf(error));
      throw error;
    } finally {
      wait.end();
    }
  }

  async #obtain(wait: CallerWait): Promise<AccessToken> {
    // A caller that did not report the 401 need not wait for another token: the 401 may be about another route of the API.
    let isReporter: boolean | undefined;
    for (;;) {
      const keeper = this.#open();
      const now = instantOf(this.#settings.clock);
      const needed = need(keeper.memory, now);
      if (needed === 'serve') return this.#serve(now).token;
      if (needed === 'rejected') isReporter ??= keeper.isReporter();
      // A usable token is served even if the record cannot be read; an event reports the failure.
      if (needed === 'revalidate') await wait.for(ignoringFailure(keeper.read(1)));
      else if (needed !== 'rejected' || isReporter) await wait.for(keeper.acquire(needed, 1));
      else {
        const flight = ignoringFailure(keeper.acquire(needed, 1));
        await wait.for({ ...flight, outcome: within(soonMs, this.#settings.clock, () => flight.outcome) });
        const later = instantOf(this.#settings.clock);
        const lives = need({ ...keeper.memory, mustReplace: false }, later) === 'serve';
        if (keeper.memory.mustReplace && lives) return keeper.trust(later).token;
        isReporter = true;
      }
    }
  }

  /** Renews a token that has less life left. If that is refused or takes too long, returns it nevertheless. */
  async #obtainWithLife(minLifeMs: number, wait: CallerWait): Promise<AccessToken> {
    let before: AccessToken | undefined;
    // Renew twice at most. The first time, this call may join a renewal in the background, which gives up when another process is asking.
    for (let renewals = 0; ; renewals++) {
      const token = await this.#obtain(wait);
      const { cached } = this.#keeper.memory;
      const now = instantOf(this.#settings.clock);
      const isEnough = cached && (servableLifeMs(cached, now) >= minLifeMs || isYoung(cached, now));
      if (isEnough || renewals === 2 || (before && before.id !== token.id)) return token;
      before = token;
      await wait.for(ignoringFailure(this.#open().acquire('refresh', 1, true))).catch((error) => {
        if (!wait.isOver) throw error;
      });
      if (wait.isOver) return token;
    }
  }

  #open(): TokenKeeper {
    if (this.#keeper.closed) throw closedError();
    return this.#keeper;
  }

  /** Serves the cached token, and starts the work that is due meanwhile. Nobody waits for that work. */
  #serve(now: Instant): TrustedToken {
    const keeper = this.#keeper;
    // In request-bound runtimes the end of this request would abort a token request, which costs a token.
    if (this.#settings.requestBound && !this.#settings.waitUntil) return keeper.trust(now);
    const { memory, renew, revalidate } = due(keeper.memory, now);
    keeper.memory = memory;
    // Trust the token first, because a listener that hears of the work may close the client.
    const served = keeper.trust(now);
    if (renew) void keeper.acquire('refresh', 0);
    if (revalidate) void keeper.read(0);
    return served;
  }
}
