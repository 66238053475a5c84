import { isServiceAuthError } from '@service-auth/core';
import type { Judge } from './judge.ts';
import type { World } from './world.ts';

const minute = 60_000;
const hour = 60 * minute;

/** Watches the audiences for which the endpoint works while it fails for others. */
export interface StarvationWatch {
  /** A caller got a token, or this error. `wallNow`: the wall clock of its process. */
  answered(audience: string, error: unknown, wallNow: number): void;
  /** A request for this audience failed. If the endpoint works for it, this failure is one of chance, and all audiences wait for the pause after it. */
  failed(audience: string): void;
}

/** Creates the watch of one run. `failing`: the audiences for which the endpoint fails. */
export function createStarvationWatch(world: World, failing: readonly string[], judge: Judge): StarvationWatch {
  const refused = new Map<string, { readonly since: number; readonly spares: boolean; readonly retryAt: number }>();

  return {
    answered(audience, error, wallNow) {
      if (error === undefined || failing.includes(audience)) {
        refused.delete(audience);
        return;
      }
      const isFailure = isServiceAuthError(error) && /^ERR_(TOKEN|CREDENTIALS|RATE)/.test(error.code);
      if (!isFailure) return;
      const before = refused.get(audience);
      // If nobody asked within a minute of the instant that was told, another audience may have had the request.
      const isLate = before === undefined || world.now > before.retryAt + minute;
      const { since, spares: spared } = isLate ? { since: world.now, spares: false } : before;
      // While the budget must be spared, an audience waits for its turn.
      const spares = spared || judge.spares;
      const retryAt = world.now + (error.retryAt ?? wallNow) - wallNow;
      refused.set(audience, { since, spares, retryAt });
      // A new record may spend less, so it spares that for longer.
      const sparedMs = since < 27 * hour ? 9 * hour : 2 * hour;
      if (world.now - since <= (spares ? sparedMs : 16 * minute)) return;
      judge.violated('one audience does not starve the others', `${audience} since ${since}: ${String(error)}`);
      refused.delete(audience);
    },
    failed(audience) {
      if (!failing.includes(audience)) refused.clear();
    },
  };
}
