import type { AccessToken } from './access-token.ts';
import {
  type ResetOptions,
  type ResetResult,
  type RetryResult,
  readUsage,
  reasonOf,
  resetTokens,
  retryNow,
} from './administration.ts';
import { bindWhenRead, boundMethods } from './bind-when-read.ts';
import { isYoung, servableLifeMs } from './cached-token.ts';
import { instantOf } from './clock.ts';
import type { ServiceAuthEventListener, SubscribeOptions } from './events.ts';
import type { Instant } from './instant.ts';
import { due, need, rejected, resetBegun, resetDone, retried } from './memory.ts';
import type { ServiceAuthOptions } from './options.ts';
import { within } from './pause.ts';
import { raced } from './raced.ts';
import { type ClientOptions, type CommonSettings, resolveOptions } from './settings.ts';
import { closedError } from './token-errors.ts';
import { TokenKeeper } from './token-keeper.ts';
import type { GetTokenOptions, ServiceAuth } from './token-source.ts';
import { distrust, isTrusted, type TrustedToken } from './trusted-token.ts';
import type { Usage } from './usage.ts';

const closeWithinMs = 2_000;

/**
 * Creates a client. It does no I/O before the first call. No timer renews a token: calls of `getToken()` start renewals ahead of expiry and do not wait
 * for them. If the store fails while an outcome is written, timers try again for about two minutes; they do not keep the process running.
 * @throws `ERR_CONFIG` with all problems of the options
 */
export function createServiceAuth(options: ServiceAuthOptions): ServiceAuth {
  return new Client(resolveOptions(options));
}

class Client implements ServiceAuth {
  readonly #settings: CommonSettings;
  readonly #keeper: TokenKeeper;
  readonly baseUrl: string | undefined;
  readonly covers: ServiceAuth['covers'];

  constructor(options: ClientOptions) {
    this.#settings = options.common;
    this.#keeper = new TokenKeeper(options);
    this.baseUrl = options.common.baseUrl;
    this.covers = options.common.covers;
    bindWhenRead(this, methods);
  }

  readonly getToken = (options?: GetTokenOptions): Promise<AccessToken> => {
    const signal = options?.signal;
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (options?.minLifeMs) return this.#obtainWithLife(options.minLifeMs, signal);
    const { trusted } = this.#keeper;
    if (trusted && isTrusted(trusted, this.#settings.clock)) return trusted.promise;
    distrust(trusted);
    const now = instantOf(this.#settings.clock);
    if (need(this.#keeper.memory, now) !== 'serve') return this.#obtain(signal);
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

  async invalidate(token: AccessToken): Promise<void> {
    const keeper = this.#keeper;
    const { memory, outcome } = rejected(keeper.memory, token.authorization, this.#settings.clock.monotonic());
    keeper.remember(memory);
    keeper.settings.rejection(token.id, outcome);
  }

  reportBypass(): void {
    this.#keeper.settings.bypass();
  }

  async reset(options?: ResetOptions): Promise<ResetResult> {
    const keeper = this.#open();
    const reason = reasonOf(options);
    const { memory } = keeper;
    keeper.remember(resetBegun(memory));
    const { result, upTo } = await keeper.run((work) => resetTokens(work, memory, reason));
    keeper.remember(resetDone(keeper.memory, upTo));
    return result;
  }

  async retryNow(): Promise<RetryResult> {
    const keeper = this.#open();
    const result = await keeper.run(retryNow);
    keeper.remember(retried(keeper.memory));
    return result;
  }

  async getUsage(): Promise<Usage> {
    return this.#open().run(readUsage);
  }

  subscribe(listener: ServiceAuthEventListener, options?: SubscribeOptions): () => void {
    return this.#keeper.settings.subscribe(listener, options);
  }

  async close(): Promise<void> {
    await within(closeWithinMs, this.#settings.clock, () => this.#keeper.close(closedError()));
    this.#keeper.letGo();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #obtain(signal: AbortSignal | undefined): Promise<AccessToken> {
    try {
      for (;;) {
        const keeper = this.#open();
        const now = instantOf(this.#settings.clock);
        const needed = need(keeper.memory, now);
        if (needed === 'serve') return this.#serve(now).token;
        // A usable token is served even if the record cannot be read; an event reports the failure.
        if (needed === 'revalidate') await raced(keeper.read(1).catch(ignore), signal);
        else await raced(keeper.acquire(needed, 1), signal);
      }
    } catch (error) {
      if (!signal?.aborted) this.#keeper.settings.unavailable(error);
      throw error;
    }
  }

  /** Renews a token that has less life left. If that is refused, returns it nevertheless. */
  async #obtainWithLife(minLifeMs: number, signal: AbortSignal | undefined): Promise<AccessToken> {
    let before: AccessToken | undefined;
    // Renew twice at most. The first time, this call may join a renewal in the background, which gives up when another process is asking.
    for (let renewals = 0; ; renewals++) {
      const token = await this.#obtain(signal);
      const { cached } = this.#keeper.memory;
      const now = instantOf(this.#settings.clock);
      const isEnough = cached && (servableLifeMs(cached, now) >= minLifeMs || isYoung(cached, now));
      if (isEnough || renewals === 2 || (before && before.id !== token.id)) return token;
      before = token;
      await raced(this.#open().acquire('refresh', 1, true).catch(ignore), signal);
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

const methods = boundMethods(Client.prototype, [
  'invalidate',
  'reportBypass',
  'reset',
  'retryNow',
  'getUsage',
  'subscribe',
  'close',
  Symbol.asyncDispose,
]);

function ignore(): void {}
