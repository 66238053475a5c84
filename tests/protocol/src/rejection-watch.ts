import { decodeRecord } from '../../../packages/core/src/ledger/codec.ts';
import { leavesAt, limitsFor, termLimits } from '../../../packages/core/src/ledger/limits.ts';
import type { Judge } from './judge.ts';
import type { Service } from './service.ts';
import type { Settings } from './settings.ts';
import type { SimulatedStore } from './simulated-store.ts';
import type { World } from './world.ts';

// Two revocations within an hour: the second token is replaced after a pause.
const replacedWithinMs = 75 * 60_000;

/**
 * Creates the APIs of a run: the function that tells the answer of the API of an audience to a token. If the API of one audience rejects every token, a
 * revoked token of another audience must be replaced soon, unless that audience has had its part of the renewals.
 */
export function createRejectionWatch(
  world: World,
  service: Service,
  store: SimulatedStore,
  { rejecting, audiences, durability, reserve, tokens, windowMs }: Settings,
  judge: Judge,
): (audience: string, token: string) => 200 | 401 {
  const rejectedSince = new Map<string, number>();
  const terms = limitsFor([{ tokens, windowMs }], reserve, durability).terms.map((term) =>
    termLimits(term, durability),
  );

  /** The share for renewals after a 401 is spent, and this audience has had its part of it. */
  function hadItsPart(audience: string): boolean {
    const record = decodeRecord(store.kept('left')?.record ?? '');
    if (typeof record === 'string') return false;
    return terms.some((term) => {
      const renewals = record.entries.filter((one) => one.reason === 'rejected' && leavesAt(one, term) > store.now());
      const own = renewals.filter((one) => one.audience === audience);
      return renewals.length >= term.rejectedShare && own.length >= Math.floor(term.rejectedShare / audiences.length);
    });
  }

  return (audience, token) => {
    if (audience === rejecting) return 401;
    const status = service.status(token);
    if (rejecting === undefined) return status;
    if (status === 200) rejectedSince.delete(audience);
    else {
      // An audience that has had its part waits until it has a part again.
      const since = hadItsPart(audience) ? world.now : (rejectedSince.get(audience) ?? world.now);
      rejectedSince.set(audience, since);
      // A new record may spend little, and one audience may have spent that.
      if (since > 27 * 3_600_000 && world.now - since > replacedWithinMs) {
        judge.violated('a revoked token is replaced', `${audience} since ${since}`);
        rejectedSince.delete(audience);
      }
    }
    return status;
  };
}
