import type { IssuanceReason, Term } from './record.ts';
import { hour, minute, second } from './units.ts';

/** The failure that an acknowledged `swap` of a store survives. See `Store.durability`. */
export type StoreDurability = 'process' | 'durable' | 'replicated';

interface Insurance {
  /** The reserve as a share of the tokens, if nobody states one. */
  readonly share: number;
  /** The number of losses of the record that the reserve covers. Infinity: the record ends with its process. */
  readonly losses: number;
}

const insurances: Readonly<Record<StoreDurability, Insurance>> = {
  process: { share: 1 / 5, losses: Number.POSITIVE_INFINITY },
  durable: { share: 1 / 5, losses: 1 },
  replicated: { share: 1 / 2, losses: 3 },
};

export const durabilities: readonly string[] = Object.keys(insurances);

/** A store of somebody else may have another durability: its client is refused, but its limits are computed first. */
function insuranceOf(durability: StoreDurability): Insurance {
  return insurances[durability] ?? insurances.durable;
}

/** The agreement as the options of this process state it. */
export interface Limits {
  /** The terms that this process states. A process that inherits the agreement, and a reader of usage, state none. */
  readonly terms: readonly Term[];
  /** The terms that a process which inherits the agreement keeps to while the record has none. Default: none. */
  readonly usual?: readonly Term[];
  readonly durability: StoreDurability;
  /** The largest record that the store keeps, in bytes. Default {@link usualMaxBytes}. */
  readonly maxBytes?: number | undefined;
}

/** What the record can count. No fleet spends as much. */
export const unlimitedTokens = 1_000_000;

/** The largest record of a store that states no bound, in bytes. */
export const usualMaxBytes = 1_000_000;

/** The numbers that follow from a term. */
export interface TermLimits extends Term {
  /** The tokens less the reserve. */
  readonly usable: number;
  /** A settled entry counts for this long: 25 hours and 10 minutes if the window is a day, because a calendar day can have 25 hours. */
  readonly settledMs: number;
  /** A pending entry counts for this long. It is longer than `settledMs`, because the request may have arrived late. */
  readonly pendingMs: number;
  /** While earlier entries are unknown, only this many later ones may be made. */
  readonly newRecordCeiling: number;
  /** A token for this reason may be issued while fewer tokens than this are spent. */
  readonly ceilings: Readonly<Record<IssuanceReason, number>>;
  /** This many tokens of a window may be renewals that 401s of the API cause. */
  readonly rejectedShare: number;
}

/**
 * Computes the terms of an agreement. `reserve` belongs to the window with the most tokens, and the others keep the same share of theirs. Undefined
 * takes the default of the store's durability. `enforce`: false if nothing is refused for the agreement.
 */
export function limitsFor(
  windows: readonly Pick<Term, 'tokens' | 'windowMs' | 'counts'>[],
  reserve: number | undefined,
  durability: StoreDurability,
  enforce?: boolean,
): Limits {
  const largest = Math.max(...windows.map(({ tokens }) => tokens));
  const share = reserve === undefined ? insuranceOf(durability).share : reserve / largest;
  const terms = windows.map(({ tokens, windowMs, counts }): Term => {
    // The reserve of the largest window must not change by the rounding of its share.
    const kept = tokens === largest && reserve !== undefined ? reserve : Math.ceil(tokens * share);
    return {
      tokens,
      windowMs,
      reserve: Math.min(tokens - 1, kept),
      ...(counts && { counts }),
      ...(enforce === false && { enforce }),
    };
  });
  return { terms, durability };
}

/** Computes the numbers of one term. */
export function termLimits(
  { tokens, windowMs, reserve, counts, enforce }: Term,
  durability: StoreDurability,
): TermLimits {
  const usable = tokens - reserve;
  const spanMs = windowMs + Math.min(hour, windowMs / 24);
  const { losses } = insuranceOf(durability);
  // Without a single token nothing works.
  const reservePerLoss = Math.max(1, Math.floor(reserve / losses));
  const withoutReset = usable - Math.min(10, Math.floor(usable / 12));
  return {
    tokens,
    windowMs,
    reserve,
    counts,
    enforce,
    usable,
    // The clocks of some stores show whole seconds, and a busy server may show the last one a little longer.
    settledMs: Math.ceil(spanMs + Math.min(10 * minute, Math.max(2 * second, windowMs / 144))),
    // A request may take five minutes, whatever the window is.
    pendingMs: Math.ceil(spanMs + Math.min(2 * hour, Math.max(7 * minute, windowMs / 12))),
    newRecordCeiling: !Number.isFinite(losses) || reserve === 0 ? usable : Math.min(usable, reservePerLoss),
    ceilings: {
      refresh: Math.max(1, Math.floor(usable * 0.7)),
      cold: withoutReset,
      expired: withoutReset,
      rejected: withoutReset,
      reset: usable,
    },
    rejectedShare: Math.max(1, Math.floor(usable / 3)),
  };
}
