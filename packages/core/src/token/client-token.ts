import type { AccessToken } from '../contract/access-token.ts';
import { configError } from '../contract/config-problems.ts';
import { isServiceAuthError } from '../contract/errors.ts';
import type { ServiceAuthEventFields } from '../contract/events.ts';
import type { CheckedOptions, CommonSettings } from '../contract/settings.ts';
import type { GetTokenOptions, TokenSource } from '../contract/token-source.ts';
import { type Clock, instantOf, keepAlive, observe } from '../platform/clock.ts';
import type { Instant } from '../platform/instant.ts';
import { outsideRequest } from '../platform/nextjs.ts';
import { within } from '../platform/pause.ts';
import { type SharedRecord, sharedRecordOf } from '../record/shared-record.ts';
import { runAttempt } from './attempt.ts';
import { type CachedToken, isYoung, servableLifeMs, withExpiry } from './cached-token.ts';
import { type CallerWait, callerWait, problemOf } from './caller-wait.ts';
import { ClientEvents, type Listeners } from './client-events.ts';
import type { SecretMemory } from './client-secret.ts';
import {
  type Attempt,
  accepted,
  after,
  attemptOf,
  due,
  emptyMemory,
  type Memory,
  need,
  rejected,
  retried,
  revalidated,
  servableForMs,
  servesRejected,
  unusable,
} from './memory.ts';
import {
  type AttemptDetails,
  type ClientParts,
  createParts,
  endAttempt,
  ignoringFailure,
  type RunningAttempt,
  settingsOf,
  startAttempt,
  type Wait,
} from './running-attempt.ts';
import { closedError } from './token-errors.ts';

const soonMs = 1_000;

// Counts the attempts of all clients in this process.
let attempts = 0;

/**
 * One token of a client, as this process knows it: the token in memory, and the work that gets
 * another one. It keeps only what is needed between two calls, because a process may have thousands
 * of them.
 */
export class ClientToken implements Omit<TokenSource, 'baseUrl' | 'covers' | 'reportBypass'> {
  memory: Memory = emptyMemory;
  closed = false;
  readonly events: ClientEvents;
  readonly #options: CheckedOptions;
  readonly #settings: CommonSettings;
  readonly #secret: SecretMemory;
  #trusted: TrustedToken | undefined;
  /** The number of reported 401s whose callers have not come back for another token. */
  #reporters = 0;
  #reading: RunningAttempt | undefined;
  #requesting: RunningAttempt | undefined;
  #sharedRecord: SharedRecord | undefined;
  #isTelling = false;
  #underWay: Set<() => void> | undefined;

  /** `listeners` and `secret` belong to the client. */
  constructor(options: CheckedOptions, listeners: Listeners, secret: SecretMemory) {
    this.#options = options;
    this.#settings = options.common;
    this.#secret = secret;
    this.events = new ClientEvents(options.common, listeners);
  }

  // These are functions of each object, because people write `const { getToken } = auth`, or spread
  // a client.
  readonly getToken = (options?: GetTokenOptions): Promise<AccessToken> => {
    const problem = options && problemOf(options);
    if (problem) return Promise.reject(configError([problem]));
    if (options?.signal?.aborted) return Promise.reject(options.signal.reason);
    if (options?.minLifeMs) return this.#wait(options);
    const trusted = this.#trusted;
    if (trusted && isTrusted(trusted, this.#settings.clock)) return trusted.promise;
    distrust(trusted);
    const now = instantOf(this.#settings.clock);
    if (need(this.memory, now) !== 'serve') return this.#wait(options);
    return this.#serve(now).promise;
  };

  readonly peekToken = (): AccessToken | undefined => {
    const trusted = this.#trusted;
    if (trusted && isTrusted(trusted, this.#settings.clock)) return trusted.token;
    const now = instantOf(this.#settings.clock);
    const needed = need(this.memory, now);
    const isInProcess = this.#settings.store.durability === 'process';
    // This call starts no work. If some is due, the token is not trusted, so the next `getToken()`
    // starts that work.
    distrust(trusted);
    return needed === 'serve' || (needed === 'revalidate' && isInProcess) ? this.#trust(now).token : undefined;
  };

  readonly invalidate = async (token: AccessToken): Promise<void> => {
    if (typeof token?.authorization !== 'string') return;
    const { memory, outcome } = rejected(this.memory, token.authorization, instantOf(this.#settings.clock));
    this.remember(memory);
    if (outcome === 'renew') this.#reporters += 1;
    this.events.rejection(token.id, outcome);
  };

  readonly reportAccepted = (token: AccessToken): void => {
    this.memory = accepted(this.memory, token.id);
  };

  remember(next: Memory): void {
    if (this.closed) return;
    if (next.cached !== this.memory.cached || next.mustReplace) distrust(this.#trusted);
    this.memory = next;
    if (!next.mustReplace) this.#reporters = 0;
  }

  /** Lets this process try to replace the token at once, after an order to try again. */
  retry(): void {
    this.remember(retried(this.memory));
  }

  /**
   * Runs `job` with the parts that it needs, as a part of no incoming request. The process stays
   * alive until the job ends, or until {@link letGo}.
   */
  run<Result>(job: (parts: ClientParts) => Promise<Result>): Promise<Result> {
    this.#sharedRecord ??= sharedRecordOf(this.#settings, this.#options.clientId);
    const request = new AbortController();
    const settings = settingsOf(this.#options, this.events);
    const parts = createParts(settings, this.#sharedRecord, this.#secret, request);
    return outsideRequest(() => {
      const end = keepAlive(settings.clock);
      const letGo = () => {
        end();
        request.abort();
      };
      this.#underWay ??= new Set();
      this.#underWay.add(letGo);
      return job(parts).finally(() => {
        end();
        this.#underWay?.delete(letGo);
        // A set takes memory, and most clients have nothing under way.
        if (this.#underWay?.size === 0) this.#underWay = undefined;
      });
    });
  }

  /**
   * Stops keeping the process alive. Aborts a token request without an answer, which stays
   * counted.
   */
  letGo(): void {
    for (const letGo of this.#underWay ?? []) letGo();
  }

  /** Serves no token any more, and ends all attempts. */
  async close(reason: Error): Promise<void> {
    this.remember(emptyMemory);
    this.closed = true;
    await Promise.all([endAttempt(this.#reading, reason), endAttempt(this.#requesting, reason)]);
  }

  async #wait(options: GetTokenOptions | undefined): Promise<AccessToken> {
    const wait = callerWait(options?.signal, options?.maxWaitMs, this.#settings.clock);
    try {
      return await (options?.minLifeMs ? this.#obtainWithLife(options.minLifeMs, wait) : this.#obtain(wait));
    } catch (error) {
      this.events.unavailable(wait.newsOf(error));
      throw error;
    } finally {
      wait.end();
    }
  }

  async #obtain(wait: CallerWait): Promise<AccessToken> {
    // A caller that did not report the 401 need not wait for another token: the 401 may be about
    // another route of the API.
    let isReporter: boolean | undefined;
    for (;;) {
      if (this.closed) throw closedError();
      const now = instantOf(this.#settings.clock);
      const needed = need(this.memory, now);
      if (needed === 'serve') return this.#serve(now).token;
      if (needed === 'rejected') isReporter ??= this.#isReporter();
      // A usable token is served even if the record cannot be read; an event reports the failure.
      if (needed === 'revalidate') await wait.for(ignoringFailure(this.#read(1)));
      else if (needed !== 'rejected' || isReporter) await wait.for(this.#request(needed, 1));
      else {
        const attempt = ignoringFailure(this.#request(needed, 1));
        await wait.for({ ...attempt, outcome: within(soonMs, this.#settings.clock, () => attempt.outcome) });
        const later = instantOf(this.#settings.clock);
        const lives = need({ ...this.memory, mustReplace: false }, later) === 'serve';
        if (this.memory.mustReplace && lives) return this.#trust(later).token;
        isReporter = true;
      }
    }
  }

  /**
   * Renews a token that has less life left. If the renewal is refused or takes too long, returns
   * the old token.
   */
  async #obtainWithLife(minLifeMs: number, wait: CallerWait): Promise<AccessToken> {
    let before: AccessToken | undefined;
    // Renew twice at most. The first time, this call may join a renewal in the background, which
    // gives up when another process is asking.
    for (let renewals = 0; ; renewals++) {
      const token = await this.#obtain(wait);
      const { cached } = this.memory;
      const now = instantOf(this.#settings.clock);
      const isEnough = cached && (servableLifeMs(cached, now) >= minLifeMs || isYoung(cached, now));
      if (isEnough || renewals === 2 || (before && before.id !== token.id)) return token;
      before = token;
      if (this.closed) throw closedError();
      await wait.for(ignoringFailure(this.#request('refresh', 1, true))).catch((error) => {
        if (!wait.isOver) throw error;
      });
      if (wait.isOver) return token;
    }
  }

  /** Serves the cached token, and starts the work that is due, without waiting for it. */
  #serve(now: Instant): TrustedToken {
    // In request-bound runtimes the end of this request would abort a token request, which costs a
    // token.
    if (this.#settings.requestBound && !this.#settings.waitUntil) return this.#trust(now);
    const { memory, renew, revalidate } = due(this.memory, now);
    this.memory = memory;
    // Trust the token first, because a listener that hears of the work may close the client.
    const served = this.#trust(now);
    if (renew) void this.#request('refresh', 0);
    if (revalidate) void this.#read(0);
    return served;
  }

  /** Trusts the cached token for a while. */
  #trust(now: Instant): TrustedToken {
    const trusted = this.#trusted;
    const token = withExpiry(trusted?.token, this.memory.cached as CachedToken, now);
    // Every call returns the same resolved promise until the token or its expiry changes.
    const promise = trusted?.token === token ? trusted.promise : Promise.resolve(token);
    // A number without a fraction needs no memory of its own.
    this.#trusted = { token, promise, from: now.wall, forMs: Math.floor(servableForMs(this.memory, now)) };
    return this.#trusted;
  }

  /**
   * Returns whether a caller reported the 401 of the cached token: such callers come back at once.
   */
  #isReporter(): boolean {
    this.#reporters -= 1;
    return this.#reporters >= 0;
  }

  /**
   * Reads whether the fleet has a newer token. This never waits for the token endpoint. `callers`:
   * the number of calls that wait for it.
   */
  #read(callers: 0 | 1): RunningAttempt {
    const onEnd = () => {
      this.#reading = undefined;
    };
    const running = this.#reading;
    const attempt = running ?? this.#start('revalidate', onEnd, false);
    // In request-bound runtimes an abandoned attempt never ends, so it is not shared.
    if (!this.#settings.requestBound) this.#reading = attempt;
    return this.#join(attempt, callers, !running);
  }

  /**
   * Gets another token. `mustNotKeep`: the caller needs a longer life than the cached token has,
   * so the attempt waits for another process that requests a token.
   */
  #request(reason: Exclude<Attempt['reason'], 'revalidate'>, callers: 0 | 1, mustNotKeep = false): RunningAttempt {
    const onEnd = () => {
      this.#requesting = undefined;
    };
    const running = this.#requesting;
    const attempt = running ?? this.#start(reason, onEnd, mustNotKeep);
    if (!this.#settings.requestBound) this.#requesting = attempt;
    const joined = this.#join(attempt, callers, !running);
    // A caller with a rejected token may join an attempt with another reason. If that attempt
    // fails, the caller's loop starts another one.
    return reason === 'rejected' && attempt.details.reason !== reason ? ignoringFailure(joined) : joined;
  }

  #join(attempt: RunningAttempt, callers: 0 | 1, isFirst: boolean): RunningAttempt {
    const { details } = attempt;
    details.callers += callers;
    // A listener may call `getToken()`. It gets no event about that call: otherwise event and call
    // would cause each other for ever.
    if (this.#isTelling || !isFirst) return attempt;
    this.#isTelling = true;
    const { acquisition, reason } = details;
    this.events.emit('acquisition_started', { acquisition, reason, callers });
    this.#isTelling = false;
    return attempt;
  }

  #start(reason: Attempt['reason'], onEnd: () => void, mustNotKeep: boolean): RunningAttempt {
    const common = this.#settings;
    const { observesOperations } = this.events;
    attempts += 1;
    const wait = { waitsFor: 'store', since: common.clock.monotonic() } as const;
    const details: AttemptDetails = { acquisition: attempts, reason, callers: 0, wait };
    const run = (signal: AbortSignal) => {
      const observer = { clock: common.clock, observesOperations };
      return observe(
        observer,
        () => this.#attempt(details, signal, mustNotKeep),
        (end, durationMs) => {
          const outcome = 'result' in end ? end.result : 'failed';
          const code = 'error' in end && isServiceAuthError(end.error) ? end.error.code : undefined;
          const { acquisition, callers } = details;
          this.events.emit('acquisition_ended', { outcome, code, acquisition, reason, callers, durationMs });
        },
      );
    };
    return startAttempt(run, common, details, onEnd);
  }

  /**
   * Gets a token, or only reads the record. Resolves without a new token if the cached token is
   * kept or was reset.
   */
  async #attempt(
    details: AttemptDetails,
    signal: AbortSignal,
    mustNotKeep: boolean,
  ): Promise<ServiceAuthEventFields['acquisition_ended']['outcome']> {
    const { clock, store } = this.#settings;
    const { reason } = details;
    const attempt = attemptOf(this.memory, reason, instantOf(clock));
    const { cached, died, machineSleepMs } = attempt;
    if (cached && machineSleepMs > 0) this.events.sleep(cached.countedFrom, machineSleepMs);
    const input = {
      reason,
      died,
      cached,
      mustNotKeep,
      resetUpTo: this.memory.resetUpTo,
      unusable: unusable(this.memory, attempt, store.durability === 'process', mustNotKeep),
      onConfirmed: (at: Instant, mayRetry: boolean) =>
        this.remember(revalidated(mayRetry ? retried(this.memory) : this.memory, attempt, at)),
      onWait(wait: Wait) {
        details.wait = wait;
      },
    };
    try {
      const result = await this.run((parts) => runAttempt(parts, input, signal));
      const { cached: before } = this.memory;
      this.remember(after(this.memory, attempt, result, instantOf(clock), Math.random()));
      if (result.kind !== 'token') return result.kind === 'keep' ? 'kept' : 'dropped';
      const { token, adopted } = result.usable;
      const { id: tokenId, expiresAt } = token;
      if (!adopted) return 'issued';
      if (this.memory.cached?.token !== token || before?.token.id === tokenId) return 'kept';
      this.events.emit('token_adopted', { tokenId, expiresAt });
      return 'adopted';
    } catch (error) {
      const now = instantOf(clock);
      this.remember(after(this.memory, attempt, { kind: 'failed' }, now, 0));
      if (!servesRejected(attempt, now)) throw error;
      return 'kept';
    }
  }
}

/**
 * A token that is served without another decision, for less than a second by the wall clock: a step
 * of that clock, a leap or a sleep ends this. The token is one small object, because with thousands
 * of clients in a process a call costs as much as the memory it reads.
 */
export interface TrustedToken {
  readonly token: AccessToken;
  /** The resolved promise that every `getToken()` returns. */
  readonly promise: Promise<AccessToken>;
  /** The beginning of the span, by the wall clock. */
  readonly from: number;
  /** The length of the span. 0: it was ended. */
  forMs: number;
}

/** Ends the span. A wall clock that has left it must not come back into it when it is set back. */
function distrust(trusted: TrustedToken | undefined): void {
  if (trusted) trusted.forMs = 0;
}

/**
 * Returns whether this moment lies within the span. It reads the wall clock alone, because reading
 * a clock is most of the cost of a call.
 */
function isTrusted({ from, forMs }: TrustedToken, clock: Clock): boolean {
  const afterMs = clock.now() - from;
  return afterMs >= 0 && afterMs < forMs;
}
