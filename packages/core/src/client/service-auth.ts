import type { AccessToken } from '../contract/access-token.ts';
import type { ServiceAuthEventListener, SubscribeOptions } from '../contract/events.ts';
import type { ServiceAuthOptions, TokenOptions } from '../contract/options.ts';
import type { CheckedOptions, CommonSettings } from '../contract/settings.ts';
import type { TokenSource } from '../contract/token-source.ts';
import { within } from '../platform/pause.ts';
import { Listeners } from '../token/client-events.ts';
import { SecretMemory } from '../token/client-secret.ts';
import { ClientToken } from '../token/client-token.ts';
import { resetBegun, resetDone } from '../token/memory.ts';
import { closedError } from '../token/token-errors.ts';
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
import { resolveOptions, resolveToken } from './resolve-options.ts';

// Compilers and `lib`s from before explicit resource management have no such symbols. These are the
// declarations of `esnext.disposable`, which merge with them. A reference to that `lib` would not
// compile before TypeScript 5.2, and promise `DisposableStack`, which Node 20 lacks.
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

/**
 * A client of the service for one client id, and the source of one token of it. `for()` returns the
 * sources of its other tokens. All clients with the same client id share one budget.
 */
export interface ServiceAuth extends TokenSource {
  /**
   * Returns the source of another token of this client: for another audience, say, or with other
   * scopes. The source has the record, secret, limit, settings and listeners of this client, and
   * HTTP adapters take it in the place of a client. An option that is left out, or undefined, is
   * that of the client.
   *
   * The same token and `baseUrl` give the same source, so call it wherever you need one. A client
   * keeps its sources until it ends, about 2 kB each and their tokens. `close()` of the client ends
   * them: their `getToken()` then rejects with `ERR_CLOSED`.
   *
   * Events and `getUsage()` name the token in `audience`, and `retryNow()` is for all tokens of the
   * client. `reset()` resets the token of the client alone: for another one, create a client.
   * @throws `ERR_CONFIG` with all problems of the options
   */
  for(options: TokenOptions): TokenSource;
  /**
   * Reports that the token is compromised. When this has resolved, no `getToken()` of this process
   * returns it, and 30 seconds later none of a process that can read the store. The API still
   * accepts the token until it expires or the provider revokes it. The token is dropped even if no
   * replacement can be issued now: the result says when one can. `getUsage().available.reset` says
   * it before. If the fleet knows no token of the audience, no reset is written. The token is the
   * one that this process serves, which `peekToken()` returns. If another process reset it before,
   * its replacement stays in use, so many processes may report one token. If this process serves
   * none, the token is whatever the fleet uses.
   * @throws `ERR_STORE` if the record could not be written; this process has dropped the token
   * nevertheless, but the fleet has not. `ERR_STORE_INTEGRITY`, `ERR_CLIENT_SECRET`, `ERR_CONFIG`,
   * `ERR_CLOSED`
   */
  reset(options?: ResetOptions): Promise<ResetResult>;
  /**
   * Ends all pauses of the fleet after failures, refusals and 401s. Call it after you fixed their
   * cause. If a request fails again, its row of failures continues. The limit still holds. The call
   * has an effect once in 1, 2, 4 … 60 minutes.
   * @throws `ERR_STORE`, `ERR_STORE_INTEGRITY`, `ERR_CLOSED`
   */
  retryNow(): Promise<RetryResult>;
  /**
   * Returns which tokens of the limit are spent, by which process, when and why, and how many can
   * be had. It reads the store and requests no token.
   * @throws `ERR_STORE`, `ERR_STORE_INTEGRITY`, `ERR_CLOSED`
   */
  getUsage(): Promise<Usage>;
  /**
   * Calls `listener` with each event, as `onEvent` is called, until the returned function is
   * called. There may be any number of listeners. With `operations` the listener gets an event for
   * each operation of the store and for each attempt to get a token, too.
   * @throws `ERR_CONFIG` if `listener` is no function
   */
  subscribe(listener: ServiceAuthEventListener, options?: SubscribeOptions): () => void;
  /**
   * Ends all waits with `ERR_CLOSED`. If a token request is under way, waits up to 2 seconds until
   * its outcome is in the store. Then aborts it, so that the process can end; a token may have been
   * issued, so it stays counted.
   */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Creates a client. It does no I/O before the first call. No timer renews a token: calls of
 * `getToken()` start renewals ahead of expiry and do not wait for them. If the store fails while an
 * outcome is written, timers try again for about two minutes; they do not keep the process running.
 * @throws `ERR_CONFIG` with all problems of the options
 */
export function createServiceAuth(options: ServiceAuthOptions): ServiceAuth {
  return new Client(resolveOptions(options));
}

// Its methods are functions of each client, because people write `const { getToken } = auth`, or
// spread a client.
class Client implements ServiceAuth {
  readonly #options: CheckedOptions;
  readonly #listeners: Listeners;
  readonly #secret = new SecretMemory();
  readonly #token: ClientToken;
  /** The other tokens, by name. */
  #others: Map<string, ClientToken> | undefined;
  /** The sources that `for()` returned, by the name of the token and the address of the API. */
  #sources: Map<string, TokenSource> | undefined;
  readonly baseUrl: string | undefined;
  readonly covers: TokenSource['covers'];
  readonly getToken: TokenSource['getToken'];
  readonly peekToken: TokenSource['peekToken'];
  readonly invalidate: TokenSource['invalidate'];
  readonly reportAccepted: (token: AccessToken) => void;

  constructor(options: CheckedOptions) {
    this.#options = options;
    this.#listeners = new Listeners(options.instance);
    this.#token = new ClientToken(options, this.#listeners, this.#secret);
    this.baseUrl = options.common.baseUrl;
    this.covers = options.common.covers;
    this.getToken = this.#token.getToken;
    this.peekToken = this.#token.peekToken;
    this.invalidate = this.#token.invalidate;
    this.reportAccepted = this.#token.reportAccepted;
  }

  readonly reportBypass = (): void => this.#token.events.bypass(this.baseUrl);

  readonly for = (options: TokenOptions): TokenSource => {
    const common = resolveToken(this.#options.common, options);
    const { tokenName, baseUrl, covers } = common;
    if (tokenName === this.#options.common.tokenName && baseUrl === this.baseUrl) return this;
    this.#sources ??= new Map();
    const known = JSON.stringify([tokenName, baseUrl]);
    const source = this.#sources.get(known) ?? sourceOf(this.#tokenFor(common), baseUrl, covers);
    this.#sources.set(known, source);
    return source;
  };

  readonly reset = async (options?: ResetOptions): Promise<ResetResult> => {
    const token = this.#open();
    const reason = reasonOf(options);
    const { memory } = token;
    token.remember(resetBegun(memory));
    const { result, upTo } = await token.run((parts) => resetTokens(parts, memory, reason));
    token.remember(resetDone(token.memory, upTo));
    return result;
  };

  readonly retryNow = async (): Promise<RetryResult> => {
    const result = await this.#open().run(retryNow);
    for (const token of this.#tokens()) token.retry();
    return result;
  };

  readonly getUsage = async (): Promise<Usage> => {
    return this.#open().run(readUsage);
  };

  readonly subscribe = (listener: ServiceAuthEventListener, options?: SubscribeOptions): (() => void) => {
    return this.#listeners.subscribe(listener, options);
  };

  readonly close = async (): Promise<void> => {
    this.#secret.key = undefined;
    const ending = () => Promise.all(this.#tokens().map((token) => token.close(closedError())));
    await within(closeWithinMs, this.#options.common.clock, ending);
    for (const token of this.#tokens()) token.letGo();
  };

  readonly [Symbol.asyncDispose] = (): Promise<void> => this.close();

  #open(): ClientToken {
    if (this.#token.closed) throw closedError();
    return this.#token;
  }

  #tokens(): ClientToken[] {
    return [this.#token, ...(this.#others?.values() ?? [])];
  }

  #tokenFor(common: CommonSettings): ClientToken {
    const { tokenName } = common;
    if (tokenName === this.#options.common.tokenName) return this.#token;
    this.#others ??= new Map();
    const token =
      this.#others.get(tokenName) ?? new ClientToken({ ...this.#options, common }, this.#listeners, this.#secret);
    token.closed = this.#token.closed;
    this.#others.set(tokenName, token);
    return token;
  }
}

function sourceOf(token: ClientToken, baseUrl: string | undefined, covers: TokenSource['covers']): TokenSource {
  const { getToken, peekToken, invalidate, reportAccepted } = token;
  const reportBypass = () => token.events.bypass(baseUrl);
  return { baseUrl, covers, getToken, peekToken, invalidate, reportAccepted, reportBypass };
}
