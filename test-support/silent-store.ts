import { setImmediate } from 'node:timers/promises';
import type { ServiceAuth, Store } from '@service-auth/core';
import type { TestClock } from '@service-auth/testing';
import { expect, vi } from 'vitest';
import type { Relay } from '../scripts/servers/relay.ts';

/** The store behind `relay` goes silent: the deadline of core holds whatever its client waits for. */
export async function expectDeadline(auth: ServiceAuth, relay: Relay, clock: TestClock): Promise<void> {
  relay.set('silent');
  const asked = vi.fn();
  const outcome = auth.getToken().catch((error) => error);
  void outcome.then(asked);
  while (relay.counts.silent === 0) await setImmediate();
  await clock.advance(1_999);
  expect(asked).not.toHaveBeenCalled();
  await clock.advance(1);
  expect(await outcome).toMatchObject({ code: 'ERR_STORE', message: expect.stringContaining('TimeoutError') });
}

/** The store behind `relay` goes silent: whoever waits is released by a signal, with its reason. */
export async function expectAborts(store: Store, relay: Relay): Promise<void> {
  relay.set('silent');
  const controller = new AbortController();
  const change = { version: '1', record: 'record of 1' };
  const calls = [store.load('key', controller), store.swap('key', change, controller)];
  const reason = new Error('enough');
  controller.abort(reason);
  expect(await Promise.allSettled(calls)).toEqual(calls.map(() => ({ status: 'rejected', reason })));
}
