import type { Judge } from './judge.ts';
import type { Service } from './service.ts';
import type { World } from './world.ts';

// Two revocations within an hour: the second token is replaced after a pause.
const replacedWithinMs = 75 * 60_000;

/**
 * Creates the APIs of a run: the function that tells the answer of the API of an audience to a token. `rejecting`: the audience whose API rejects every
 * token. If there is one, a revoked token of another audience must be replaced soon.
 */
export function createRejectionWatch(
  world: World,
  service: Service,
  rejecting: string | undefined,
  judge: Judge,
): (audience: string, token: string) => 200 | 401 {
  const rejectedSince = new Map<string, number>();

  return (audience, token) => {
    if (audience === rejecting) return 401;
    const status = service.status(token);
    if (rejecting === undefined) return status;
    if (status === 200) rejectedSince.delete(audience);
    else {
      const since = rejectedSince.get(audience) ?? world.now;
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
