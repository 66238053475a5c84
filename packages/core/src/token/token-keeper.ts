import { isServiceAuthError } from '../contract/errors.ts';
import type { ServiceAuthEventFields } from '../contract/events.ts';
import type { CheckedOptions } from '../contract/settings.ts';
import { instantOf, keepAlive } from '../platform/clock.ts';
import type { Instant } from '../platform/instant.ts';
import { outsideRequest } from '../platform/nextjs.ts';
import { observe } from '../record/observe.ts';
import type { SharedRecord } from '../record/shared-record.ts';
import { sharedRecordOf } from '../record/shared-records.ts';
import { acquireToken } from './acquire-token.ts';
import { type CachedToken, withExpiry } from './cached-token.ts';
import { ClientEvents } from './client-events.ts';
import { type ClientParts, createParts } from './client-parts.ts';
import { SecretMemory } from './client-secret.ts';
import type { Flight } from './flight.ts';
import {
  after,
  emptyMemory,
  flightOf,
  type Memory,
  retried,
  revalidated,
  servableForMs,
  servesRejected,
  unusable,
} from './memory.ts';
import {
  endFlight,
  type FlightDetails,
  ignoringFailure,
  type RunningFlight,
  startFlight,
  type Wait,
} from './running-flight.ts';
import { distrust, type TrustedToken } from './trusted-token.ts';

// Counts the flights of all clients in this process.
let acquisitions = 0;

/** Keeps what a client needs between two calls: its token, the record that it shares with others, and its secret. Nothing else, because a process may have thousands of clients. */
export class TokenKeeper {
  memory: Memory = emptyMemory;
  trusted: TrustedToken | undefined;
  closed = false;
  /** So many 401s were reported whose callers have not come back for another token. */
  reporters = 0;
  readonly events: ClientEvents;
  readonly #secret = new SecretMemory();
  #reading: RunningFlight | undefined;
  #acquiring: RunningFlight | undefined;
  #sharedRecord: SharedRecord | undefined;
  #isTelling = false;
  #underWay: Set<() => void> | undefined;

  constructor(options: CheckedOptions) {
    this.events = new ClientEvents(options);
  }

  /** Trusts the cached token for a while. */
  trust(now: Instant): TrustedToken {
    const { trusted } = this;
    const token = withExpiry(trusted?.token, this.memory.cached as CachedToken, now);
    // Every call returns the same resolved promise until there is another token, or another expiry of it.
    const promise = trusted?.token === token ? trusted.promise : Promise.resolve(token);
    // A number without a fraction needs no memory of its own.
    this.trusted = { token, promise, from: now.wall, forMs: Math.floor(servableForMs(this.memory, now)) };
    return this.trusted;
  }

  remember(next: Memory): void {
    if (this.closed) return;
    if (next.cached !== this.memory.cached || next.mustReplace) distrust(this.trusted);
    this.memory = next;
    if (!next.mustReplace) this.reporters = 0;
  }

  /** Returns whether a caller that comes while the cached token is rejected reported its 401: such callers come back at once. */
  isReporter(): boolean {
    this.reporters -= 1;
    return this.reporters >= 0;
  }

  /** Reads whether the fleet has a newer token. This never waits for the token endpoint. `callers`: how many calls wait for it. */
  read(callers: 0 | 1): RunningFlight {
    const onEnd = () => {
      this.#reading = undefined;
    };
    const running = this.#reading;
    const flight = running ?? this.#start('revalidate', onEnd, false);
    // In request-bound runtimes an abandoned flight never ends, so it is not shared.
    if (!this.events.common.requestBound) this.#reading = flight;
    return this.#join(flight, callers, !running);
  }

  /** Gets another token. `mustNotKeep`: the caller needs a token with a longer life than the cached one. So the flight waits for another process that requests one. */
  acquire(reason: Exclude<Flight['reason'], 'revalidate'>, callers: 0 | 1, mustNotKeep = false): RunningFlight {
    const onEnd = () => {
      this.#acquiring = undefined;
    };
    const running = this.#acquiring;
    const flight = running ?? this.#start(reason, onEnd, mustNotKeep);
    if (!this.events.common.requestBound) this.#acquiring = flight;
    const joined = this.#join(flight, callers, !running);
    // A caller with a rejected token joined a flight with another reason. If that failed, the loop of the caller starts one of its own.
    return reason === 'rejected' && flight.details.reason !== reason ? ignoringFailure(joined) : joined;
  }

  /** Runs `job` with the parts that it needs, as a part of no incoming request. The process stays alive until then, or until {@link letGo}. */
  run<Result>(job: (parts: ClientParts) => Promise<Result>): Promise<Result> {
    const settings = this.events.forAttempt();
    this.#sharedRecord ??= sharedRecordOf(this.events.common, settings.clientId);
    const request = new AbortController();
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

  /** Keeps the process alive no longer. A token request that has no answer is aborted, and stays counted. */
  letGo(): void {
    for (const letGo of this.#underWay ?? []) letGo();
  }

  /** Serves no token any more, and ends all flights. */
  async close(reason: Error): Promise<void> {
    this.remember(emptyMemory);
    this.closed = true;
    this.#secret.key = undefined;
    await Promise.all([endFlight(this.#reading, reason), endFlight(this.#acquiring, reason)]);
  }

  #join(flight: RunningFlight, callers: 0 | 1, isFirst: boolean): RunningFlight {
    const { details } = flight;
    details.callers += callers;
    // A listener may call `getToken()`. It gets no event about that call, because the two would call each other for ever.
    if (this.#isTelling || !isFirst) return flight;
    this.#isTelling = true;
    const { acquisition, reason } = details;
    this.events.emit('acquisition_started', { acquisition, reason, callers });
    this.#isTelling = false;
    return flight;
  }

  #start(reason: Flight['reason'], onEnd: () => void, mustNotKeep: boolean): RunningFlight {
    const { common, observesOperations } = this.events;
    acquisitions += 1;
    const wait = { waitsFor: 'store', since: common.clock.monotonic() } as const;
    const details: FlightDetails = { acquisition: acquisitions, reason, callers: 0, wait };
    const fly = (signal: AbortSignal) => {
      const observer = { clock: common.clock, observesOperations };
      return observe(
        observer,
        () => this.#fly(details, signal, mustNotKeep),
        (end, durationMs) => {
          const outcome = 'result' in end ? end.result : 'failed';
          const code = 'error' in end && isServiceAuthError(end.error) ? end.error.code : undefined;
          const { acquisition, callers } = details;
          this.events.emit('acquisition_ended', { outcome, code, acquisition, reason, callers, durationMs });
        },
      );
    };
    return startFlight(fly, common, details, onEnd);
  }

  /** Gets a token, or only reads the record. Resolves without a new token if the cached one is kept or was reset. */
  async #fly(
    details: FlightDetails,
    signal: AbortSignal,
    mustNotKeep: boolean,
  ): Promise<ServiceAuthEventFields['acquisition_ended']['outcome']> {
    const { clock, store } = this.events.common;
    const { reason } = details;
    const flight = flightOf(this.memory, reason, instantOf(clock));
    const { cached, died, machineSleepMs } = flight;
    if (cached && machineSleepMs > 0) this.events.sleep(cached.countedFrom, machineSleepMs);
    const input = {
      reason,
      died,
      cached,
      mustNotKeep,
      resetUpTo: this.memory.resetUpTo,
      unusable: unusable(this.memory, flight, store.durability === 'process', mustNotKeep),
      onConfirmed: (at: Instant, mayRetry: boolean) =>
        this.remember(revalidated(mayRetry ? retried(this.memory) : this.memory, flight, at)),
      onWait(wait: Wait) {
        details.wait = wait;
      },
    };
    try {
      const result = await this.run((parts) => acquireToken(parts, input, signal));
      const { cached: before } = this.memory;
      this.remember(after(this.memory, flight, result, instantOf(clock), Math.random()));
      if (result.kind !== 'token') return result.kind === 'keep' ? 'kept' : 'dropped';
      const { token, adopted } = result.usable;
      const { id: tokenId, expiresAt } = token;
      if (!adopted) return 'issued';
      if (this.memory.cached?.token !== token || before?.token.id === tokenId) return 'kept';
      this.events.emit('token_adopted', { tokenId, expiresAt });
      return 'adopted';
    } catch (error) {
      const now = instantOf(clock);
      this.remember(after(this.memory, flight, { kind: 'failed' }, now, 0));
      if (!servesRejected(flight, now)) throw error;
      return 'kept';
    }
  }
}
