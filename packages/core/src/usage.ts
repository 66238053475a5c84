import type { Clock } from './clock.ts';
import { admission, nextFreeAt, type TermRoom, tightest } from './ledger/admission.ts';
import type { Limits } from './ledger/limits.ts';
import type { IssuanceReason } from './ledger/record.ts';
import { toLocalTime, type View } from './shared-ledger.ts';

/** A token that was issued, or may have been issued. */
export interface Issuance {
  /** The id of the token, as in `AccessToken.id`. */
  readonly id: string;
  /** When it was issued, in epoch milliseconds of this machine's clock. */
  readonly at: number;
  readonly reason: IssuanceReason;
  /** The `instance` option of the process that requested it. */
  readonly instance: string;
  readonly audience: string;
  /** True: the request is under way, or its outcome is unknown. The token counts as issued. */
  readonly pending: boolean;
}

/** One window of the agreement. */
export interface WindowUsage {
  /** The tokens of a window as agreed with the operator. */
  readonly tokens: number;
  readonly windowMs: number;
  /** The tokens that the fleet may spend: `tokens` less the reserve. */
  readonly usable: number;
  /** The spent tokens, including pending ones. */
  readonly used: number;
  readonly pending: number;
  /** `usable` less `used`. */
  readonly remaining: number;
  /** When the next spent token leaves the window, in epoch milliseconds of this machine's clock. Undefined: no token is spent. */
  readonly nextFreeAt: number | undefined;
  /** False: only another process of the fleet stated this window, within the last hour. It is kept nevertheless. */
  readonly own: boolean;
}

/** The tokens of the window that has the least room. All counts are those of the whole fleet that shares the store. */
export interface Usage {
  /** The tokens of a window as agreed with the operator. */
  readonly limit: number;
  /** The tokens that the fleet may spend: `limit` less the reserve. */
  readonly usable: number;
  /** The spent tokens, including pending ones. */
  readonly used: number;
  /** The pending tokens: their requests are under way, or the outcome is unknown. */
  readonly pending: number;
  /** `usable` less `used`. */
  readonly remaining: number;
  /** When the next spent token leaves the window, in epoch milliseconds of this machine's clock. Undefined: no token is spent. */
  readonly nextFreeAt: number | undefined;
  /**
   * The instant until which the budget has no token for a caller without one, in epoch milliseconds. Undefined: it has one. `remaining` need not be 0
   * for that: some slots are kept for `reset()`, and a new record of a shared store starts with few, because it may replace a lost one.
   */
  readonly refusedUntil: number | undefined;
  /** The window in milliseconds. Tokens count for slightly longer, which is safe for rolling and for calendar windows. */
  readonly windowMs: number;
  /** All windows that the fleet keeps. Those of this process come first. */
  readonly windows: readonly WindowUsage[];
  /** The newest issuances that count in a window, at most 150. The newest comes first. */
  readonly issuances: readonly Issuance[];
}

const maxIssuances = 150;

/** Computes the usage from a record. */
export function usageOf(view: View, limits: Limits, clock: Clock): Usage {
  const { record, now } = view;
  const local = (at: number) => toLocalTime(at, view, clock);
  const rooms = admission(record, now, limits, 'cold');
  const windows = rooms.map((room) => windowOf(room, view, local));
  const first = tightest(rooms);
  const { tokens: limit = 0, own: _, ...tight } = windows[first ? rooms.indexOf(first) : 0] ?? noWindow;
  const roomyAt = first?.roomAt ?? now;
  const countsFrom = now - Math.max(0, ...rooms.map(({ term }) => term.pendingMs));
  return {
    limit,
    ...tight,
    refusedUntil: roomyAt > now ? local(roomyAt) : undefined,
    windows,
    issuances: record.entries
      .filter(({ at }) => at > countsFrom)
      .slice(-maxIssuances)
      .map((entry) => ({ ...entry, at: local(entry.at) }))
      .reverse(),
  };
}

const noWindow: WindowUsage = {
  tokens: 0,
  windowMs: 0,
  usable: 0,
  used: 0,
  pending: 0,
  remaining: 0,
  nextFreeAt: undefined,
  own: false,
};

function windowOf({ term, own, used, pending }: TermRoom, view: View, local: (at: number) => number): WindowUsage {
  const { tokens, windowMs, usable } = term;
  const freeAt = nextFreeAt(view.record, view.now, term);
  return {
    tokens,
    windowMs,
    usable,
    used,
    pending,
    remaining: Math.max(0, usable - used),
    nextFreeAt: freeAt === undefined ? undefined : local(freeAt),
    own,
  };
}
