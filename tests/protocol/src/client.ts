import {
  type AccessToken,
  isServiceAuthError,
  type ServiceAuth,
  type ServiceAuthEvent,
  type ServiceAuthOptions,
} from '@service-auth/core';
import type { Asker, Call, FleetReset } from './judge/sights.ts';
import type { Machine } from './machine.ts';
import type { Run } from './parts.ts';

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

export function createClient(
  machine: Machine,
  audience: string,
  options: ServiceAuthOptions,
  { world, dice, judge, service, settings: { rejecting }, createServiceAuth }: Run,
): Client {
  const asker: Asker = { machine, audience };
  const auth = createServiceAuth({ ...options, onEvent });

  function onEvent(event: ServiceAuthEvent): void {
    dice.count(`event ${event.type}`);
    world.note(`${machine.name} ${JSON.stringify(event)}`);
    judge.happened(asker, event);
    judge.published(event);
  }

  async function call(): Promise<unknown> {
    const error = await get();
    if (error !== undefined) return error;
    const token = auth.peekToken();
    if (token === undefined) return undefined;
    if (!dice.roll('api_401') && api(token) === 200) return undefined;
    dice.count('api answered 401');
    judge.rejected(asker, token);
    await auth.invalidate(token);
    return get();
  }

  function api({ value }: AccessToken): 200 | 401 {
    const status = audience === rejecting ? 401 : service.status(value);
    judge.answeredByApi(audience, status);
    return status;
  }

  async function get(): Promise<unknown> {
    const aborter = dice.roll('caller_aborts') ? new AbortController() : undefined;
    const call: Call = { asker, begunAt: world.now, peeked: auth.peekToken() };
    judge.asked(call);
    const abortIn = dice.of('caller_aborts').between(0, 5_000);
    let abortedAt = Number.NaN;
    const abort = () => {
      abortedAt = world.now;
      aborter?.abort(new Error('the caller went away'));
    };
    const cancelAbort = aborter && machine.clock.setTimer(abort, abortIn);
    try {
      const token = await auth.getToken(aborter ? { signal: aborter.signal } : undefined);
      if (machine.alive) judge.served(call, token, service.token(token.value));
      return undefined;
    } catch (error) {
      if (aborter?.signal.aborted && error === aborter.signal.reason) {
        judge.aborted(call, abortedAt);
        return undefined;
      }
      if (isServiceAuthError(error)) dice.count(`error ${error.code}`);
      world.note(`${machine.name} ${String(error)}`);
      judge.refused(call, error);
      judge.published(error);
      return error;
    } finally {
      judge.ended(call);
      cancelAbort?.();
    }
  }

  function reset(): Promise<void> {
    const told: FleetReset = { asker, reported: service.token(auth.peekToken()?.value ?? '') };
    judge.resetting(told);
    return auth.reset().then(
      () => {
        world.note(`${machine.name} reset`);
        judge.wasReset(told);
      },
      (error: unknown) => {
        judge.resetFailed(told, error);
        judge.published(error);
      },
    );
  }

  function retryNow(): void {
    const order = {};
    judge.retryOrdered(order);
    auth.retryNow().then(
      ({ ended, retryAt }) => {
        world.note(`${machine.name} ends ${ended.map(({ kind }) => kind).join(', ')}`);
        judge.retryTold(order, retryAt === undefined);
      },
      (error: unknown) => {
        judge.failed(error);
        judge.published(error);
      },
    );
  }

  return { auth, audience, call, reset, retryNow };
}
