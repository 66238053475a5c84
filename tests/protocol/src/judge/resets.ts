import type { IssuedToken, Time } from './scene.ts';
import type { FleetReset, Sights } from './sights.ts';
import { minute } from './units.ts';

interface KnownReset extends FleetReset {
  /** It ends the tokens that were issued before. */
  readonly endsBefore: number;
  /** When the fleet had been told; undefined while that is unknown. */
  resolvedAt: number | undefined;
  /** From when on it cannot end another token. */
  overAt: number;
}

/** All resets of a run. */
export interface Resets {
  readonly sights: Partial<Sights>;
  readonly all: readonly KnownReset[];
  /** The instant before which the tokens were issued that a reset ends. */
  endsBefore(reset: FleetReset): number;
  /** True if a token was reset. Answers that were on their way then are reset, too. */
  mayHaveEnded(token: IssuedToken): boolean;
}

export function createResets(world: Time): Resets {
  const all: KnownReset[] = [];
  const byReset = new Map<FleetReset, KnownReset>();
  const mayHaveEnded = ({ audience, requestedAt }: IssuedToken) =>
    all.some(({ asker, overAt }) => asker.audience === audience && requestedAt < overAt);

  return {
    all,
    endsBefore: (reset) => byReset.get(reset)?.endsBefore ?? world.now,
    mayHaveEnded,
    sights: {
      resetting(reset) {
        const { reported } = reset;
        // If another reset has ended the reported token, or may have, its replacement is not meant.
        const isRepeated = reported !== undefined && mayHaveEnded(reported);
        const endsBefore = isRepeated ? Math.min(world.now, reported.issuedAt + 1) : world.now;
        const told = { ...reset, endsBefore, resolvedAt: undefined, overAt: Number.POSITIVE_INFINITY };
        byReset.set(reset, told);
        all.push(told);
      },
      wasReset(reset) {
        Object.assign(byReset.get(reset) ?? {}, { resolvedAt: world.now, overAt: world.now });
      },
      resetFailed(reset) {
        Object.assign(byReset.get(reset) ?? {}, { overAt: world.now + 20 * minute });
      },
    },
  };
}
