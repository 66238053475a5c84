import type {
  AccessToken,
  ServiceAuth,
  ServiceAuthError,
  ServiceAuthEvent,
  ServiceAuthOptions,
} from '@service-auth/core';
import { isServiceAuthError } from '@service-auth/core';
import type { Dice } from './faults.ts';
import type { Judge } from './judge.ts';
import type { Machine } from './machine.ts';
import type { Service, ServiceToken } from './service.ts';
import type { World } from './world.ts';

/** A reset, and when the fleet had been told; undefined while that is unknown. */
export interface FleetReset {
  readonly audience: string;
  /** The token that the process served when it called, which is the one that it reports. */
  readonly reported: ServiceToken | undefined;
  /** It ends the tokens that were issued before. */
  readonly endsBefore: number;
  resolvedAt: number | undefined;
  /** From when on it cannot end another token. */
  overAt: number;
}

/** The parts of the run that a client needs. */
export interface Surroundings {
  readonly world: World;
  readonly dice: Dice;
  readonly judge: Judge;
  readonly service: Service;
  /** The answer of the API of an audience to a token. */
  readonly api: (audience: string, token: string) => 200 | 401;
  /** The code under test. */
  readonly createServiceAuth: (options: ServiceAuthOptions) => ServiceAuth;
  readonly resets: FleetReset[];
  /** This mode never loses a part of the record. */
  readonly storeIsSafe: boolean;
  /** True time at which something was lost last. */
  readonly lostAt: () => number;
  /** The longest allowed pause, whatever time the clock of the store showed, unless the budget is spent. */
  readonly maxPauseMs: number;
  /** The time that a process has for a token request and its outcome. */
  readonly leaseMs: number;
  /** True time at which the clock of the store was set back last. */
  readonly setBackAt: () => number;
}

/** One `ServiceAuth` of a process, used and watched. */
export interface Client {
  readonly auth: ServiceAuth;
  readonly audience: string;
  /** One caller: gets a token, uses it, and asks for another one when the API says 401. Resolves with the error, if it was refused. */
  call(): Promise<unknown>;
  /** Resolves also if it failed. */
  reset(): Promise<void>;
  /** Tells the fleet to try again now. */
  retryNow(): void;
}

const minute = 60_000;
const fleetResetMs = 30_000;
const trustedMs = 25_000;
const latencyMs = 100;

/** Creates a client. */
export function createClient(
  machine: Machine,
  audience: string,
  options: ServiceAuthOptions,
  around: Surroundings,
): Client {
  const { world, dice, judge, leaseMs } = around;
  const callDeadlineMs = Math.max(10 * minute, 5 * leaseMs);
  const auth = around.createServiceAuth({ ...options, onEvent: onEvent });
  const handedOut = new Set<string>();
  const dropped = new Set<string>();
  const rejected = new Set<string>();
  let resetAt = Number.NEGATIVE_INFINITY;
  let isStoreFailing = false;
  let good: ServiceToken | undefined;
  let latest: ServiceToken | undefined;
  let waiting = 0;
  let blockedBeforeMs = 0;
  let calledAt = Number.NEGATIVE_INFINITY;
  let mayBeWrongUntil = Number.NEGATIVE_INFINITY;

  function onEvent(event: ServiceAuthEvent): void {
    if (event.type === 'token_issued' || event.type === 'token_adopted') replaced(event.expiresAt);
    // Further failures are not told for a minute.
    if (event.type === 'store_failed') isStoreFailing = true;
    if (event.type === 'store_recovered') isStoreFailing = false;
    dice.count(`event ${event.type}`);
    if (event.type === 'token_issued' && event.reason === 'reset') dice.count('reset token replaced');
    world.note(`${machine.name} ${JSON.stringify(event)}`);
    judge.published(event);
  }

  /** A process keeps its newest token, even one that ends earlier because the operator shortened the lives. */
  function replaced(expiresAt: number): void {
    const endsAt = world.now + expiresAt - machine.clock.now();
    if (good && endsAt < good.expiresAt) good = undefined;
  }

  async function call(): Promise<unknown> {
    const error = await get();
    if (error !== undefined) return error;
    const token = auth.peekToken();
    if (token === undefined) return undefined;
    const spurious = dice.roll('api_401');
    if (!spurious && around.api(audience, token.value) === 200) return undefined;
    dice.count('api answered 401');
    rejected.add(token.value);
    good = undefined;
    await auth.invalidate(token);
    return get();
  }

  async function get(): Promise<unknown> {
    const aborter = dice.roll('caller_aborts') ? new AbortController() : undefined;
    const peeked = auth.peekToken();
    const begunAt = world.now;
    // Callers share one attempt, which began with the first of them.
    if (waiting === 0) blockedBeforeMs = machine.blockedMs;
    waiting += 1;
    if (machine.wallSetAt.back > calledAt) mayBeWrongUntil = world.now + trustedMs;
    calledAt = world.now;
    const wasGood = good !== undefined && isGood(good) ? good : undefined;
    const cancelDeadline = startDeadline(begunAt);
    const abortIn = dice.of('caller_aborts').between(0, 5_000);
    let abortedAt = Number.NaN;
    const abort = () => {
      abortedAt = world.now;
      aborter?.abort(new Error('the caller went away'));
    };
    const cancelAbort = aborter && machine.clock.setTimer(abort, abortIn);
    try {
      const token = await auth.getToken(aborter ? { signal: aborter.signal } : undefined);
      if (!machine.alive) return undefined;
      if (peeked && (token !== peeked || world.now !== begunAt)) {
        judge.violated('peekToken tells what getToken returns', `${machine.name}`);
      }
      // The hot path reads the wall clock alone: set back into the seconds that it had trusted, they begin again.
      if (peeked && world.now < mayBeWrongUntil) dice.count('wall clock set back into the span');
      else received(token);
      return undefined;
    } catch (error) {
      if (aborter?.signal.aborted && error === aborter.signal.reason) {
        if (world.now !== abortedAt) judge.violated('an aborted caller does not wait', machine.name);
        return undefined;
      }
      judge.published(error);
      if (!isServiceAuthError(error)) judge.violated('every error is typed', String(error));
      else
        dice.count(
          mayStandStill(error, machine.blockedMs - blockedBeforeMs)
            ? 'stood still for too long'
            : `error ${error.code}`,
        );
      world.note(`${machine.name} ${String(error)}`);
      const pauseMs = isServiceAuthError(error) ? (error.retryAt ?? 0) - machine.clock.now() : 0;
      const isSpent = isServiceAuthError(error) && error.code === 'ERR_ISSUANCE_LIMIT';
      if (isSpent) judge.denied(machine.name, { tokens: error.limit, windowMs: error.windowMs });
      if (pauseMs > around.maxPauseMs && !isSpent) judge.violated('no pause outlives its clock', `${pauseMs} ms`);
      const closed = isServiceAuthError(error) && error.code === 'ERR_CLOSED';
      if (wasGood && isGood(wasGood) && !closed) judge.violated('a good token is served', String(error));
      return error;
    } finally {
      waiting -= 1;
      cancelDeadline();
      cancelAbort?.();
      if (wasGood && isGood(wasGood)) judgeDeadline(begunAt);
    }
  }

  /** Time in which the process stood still does not count. */
  function startDeadline(begunAt: number): () => void {
    let cancel = machine.clock.setTimer(() => {
      if (machine.frozenUntil > begunAt) cancel = startDeadline(world.now);
      else judge.violated('every call ends', machine.name);
    }, callDeadlineMs);
    return () => cancel();
  }

  /** A call with a good token does not wait for the token endpoint; it waits for the store a few seconds at most. */
  function judgeDeadline(begunAt: number): void {
    const waitedMs = world.now - begunAt;
    const stoodStill = machine.frozenUntil > begunAt;
    if (waitedMs > 15_000 && !stoodStill)
      judge.violated('no caller with a good token waits', `${machine.name} ${waitedMs} ms`);
  }

  function isGood(token: ServiceToken): boolean {
    const marginMs = Math.min(minute, token.lifetimeMs / 10);
    // Core counts from before the request was sent; ten seconds for what may lie between the reservation and that.
    const goodUntil = token.requestedAt + token.lifetimeMs - 2 * marginMs - 10_000 - judge.clockSpreadMs();
    const ended = dropped.has(token.value) || rejected.has(token.value);
    // A wall clock that was set forward cannot be told from sleep, so the token must be revalidated.
    if (token.requestedAt <= machine.wallSetAt.forward) return false;
    // A process that measured its age since may overestimate it, but never underestimate it.
    if (token.requestedAt <= around.setBackAt()) return false;
    return !ended && !token.revoked && !wasReset(token) && world.now < goodUntil;
  }

  /** Answers that were on their way then are reset too. */
  function wasReset(token: ServiceToken): boolean {
    if (token.issuedAt < around.lostAt()) return true;
    return around.resets.some(({ audience: of, overAt }) => of === audience && token.requestedAt < overAt);
  }

  function received(token: AccessToken): void {
    const known = judge.handedOut(token);
    if (!known) return;
    good = known;
    latest = known;
    if (known.audience !== audience) judge.violated('every audience has its own token', `${machine.name}`);
    if (dropped.has(known.value) || (around.storeIsSafe && known.issuedAt < resetAt)) {
      judge.violated('a reset token is not used in its process', `${machine.name} ${known.value}`);
    }
    handedOut.add(known.value);
    if (!around.storeIsSafe || isStoreFailing) return;
    for (const reset of around.resets) {
      if (reset.audience !== audience || reset.resolvedAt === undefined || known.issuedAt >= reset.endsBefore) continue;
      const sinceMs = world.now - reset.resolvedAt;
      if (sinceMs > fleetResetMs + latencyMs) {
        judge.violated('a reset token is not used in the fleet', `${machine.name} ${known.value} ${sinceMs} ms later`);
      }
    }
  }

  /** The fleet may pause after three processes that stood still for as long as their leases. A call that stood still for three leases may end. */
  function mayStandStill({ code, message }: ServiceAuthError, stoodStillMs: number): boolean {
    if (code !== 'ERR_TOKEN_ENDPOINT') return false;
    if (/Several processes in a row/.test(message)) return judge.mayPaceDeaths;
    return /For too long/.test(message) && stoodStillMs > 3 * leaseMs;
  }

  function reset(): Promise<void> {
    const reported = around.service.token(auth.peekToken()?.value ?? '');
    const isRepeated =
      reported && around.resets.some((other) => other.audience === audience && reported.requestedAt < other.overAt);
    const told: FleetReset = {
      audience,
      reported,
      // If another reset has ended the reported token, or may have, its replacement is not meant.
      endsBefore: isRepeated ? Math.min(world.now, reported.issuedAt + 1) : world.now,
      resolvedAt: undefined,
      overAt: Number.POSITIVE_INFINITY,
    };
    around.resets.push(told);
    const held = latest;
    const known = [...handedOut];
    good = undefined;
    return auth.reset().then(
      () => {
        resetAt = Math.max(resetAt, told.endsBefore);
        for (const value of known) dropped.add(value);
        told.resolvedAt = world.now;
        told.overAt = world.now;
        world.note(`${machine.name} reset`);
      },
      (error: unknown) => {
        if (held) dropped.add(held.value);
        // Its last write may come late.
        told.overAt = world.now + 20 * minute;
        judge.published(error);
        if (!isServiceAuthError(error)) judge.violated('every error is typed', String(error));
      },
    );
  }

  function retryNow(): void {
    auth.retryNow().then(
      ({ ended }) => world.note(`${machine.name} ends ${ended.map(({ kind }) => kind).join(', ')}`),
      (error: unknown) => {
        judge.published(error);
        if (!isServiceAuthError(error)) judge.violated('every error is typed', String(error));
      },
    );
  }

  return { auth, audience, call, reset, retryNow };
}
