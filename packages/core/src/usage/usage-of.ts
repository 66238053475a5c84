import { shownTokenName } from '../contract/token-parameters.ts';
import { chargeOf, isCertain, isFolded, isOpen, reasonOf } from '../ledger/attempt.ts';
import { admission, countsFrom, spentElsewhere, type TermRoom, tightest } from '../ledger/count.ts';
import {
  availableFor,
  callersIn,
  holdsOf,
  type Purpose,
  type Refusal,
  refusalOf,
  spentAt,
} from '../ledger/forecast.ts';
import type { Caller, Hold as LedgerHold } from '../ledger/holds.ts';
import type { Limits } from '../ledger/limits.ts';
import { glanceAt, pace } from '../ledger/pace.ts';
import { figuresOf } from '../ledger/quota.ts';
import { tokensInUse } from '../ledger/tokens.ts';
import type { Clock } from '../platform/clock.ts';
import { toLocalTime } from '../record/record-time.ts';
import type { View } from '../record/shared-record.ts';
import type { Hold, Issuance, QuotaUsage, Usage, WindowUsage } from './usage.ts';

const maxIssuances = 150;

/** Computes the usage from a record. `caller`: the process that asks. Undefined: nobody in particular asks. */
export function usageOf(view: View, caller: Caller | undefined, limits: Limits, clock: Clock): Usage {
  const { record, now } = view;
  const local = <At extends number | undefined>(at: At) => at && (toLocalTime(at, view, clock) as At & number);
  const rooms = admission(record, now, limits, 'cold');
  const windows = rooms.map(({ term, own, used, unknown: pending, nextFreeAt }): WindowUsage => {
    const { tokens, windowMs, counts, usable } = term;
    const remaining = Math.max(0, usable - used);
    return {
      tokens,
      windowMs,
      counts,
      usable,
      used,
      pending,
      remaining,
      nextFreeAt: local(nextFreeAt),
      own,
    };
  });
  const first = rooms.indexOf(tightest(rooms));
  const { tokens: limit, own: _, ...tight } = windows[first] as WindowUsage;
  const { newRecord } = rooms[first] as TermRoom;
  const windowsFrom = now - Math.max(0, ...rooms.map(({ term }) => term.pendingMs));
  const who = caller ?? anyCaller(view, limits);
  const available = (purpose: Purpose) => availableFor(purpose, record, now, who, limits);
  const cold = available('cold');
  const refusal = refusalOf(record, now, who, limits);
  const underWay = Math.min(tight.pending, record.attempts.filter((attempt) => isOpen(attempt, now)).length);
  const told = spentElsewhere(record, windowsFrom);
  const quota = figuresOf(record, now).map(({ quota, foreign, at, endsAt }): QuotaUsage => {
    const [windowMs, tokens, remaining] = quota;
    return { windowMs, tokens, remaining, foreign, observedAt: local(at), resetAt: local(endsAt) };
  });
  return {
    limit,
    ...tight,
    underWay,
    unknown: tight.pending - underWay,
    availableNow: cold,
    available: { cold, refresh: available('refresh'), rejected: available('rejected'), reset: available('reset') },
    refusedUntil: local(refusal?.until),
    refusedBecause: refusal && becauseOf(refusal),
    spentAt: local(spentAt(record, now, limits)),
    newRecord: newRecord && {
      allowed: newRecord.allowed,
      remaining: newRecord.remaining,
      until: local(newRecord.endsAt),
    },
    windows,
    holds: holdsIn(view, limits, clock),
    tokens: tokensInUse(record, now).map(({ audience, id, expiresAt, lifetimeMs }) => {
      return {
        id,
        audience: shownTokenName(audience),
        issuedAt: local(expiresAt - lifetimeMs),
        expiresAt: local(expiresAt),
      };
    }),
    recordId: view.version === undefined ? undefined : record.epoch,
    storeAheadMs: view.storeAheadMs,
    warnings: view.warnings ?? [],
    issuances: record.attempts
      .filter((attempt) => chargeOf(attempt) > 0 && countsFrom(attempt) > windowsFrom && !isFolded(record, attempt))
      .slice(-maxIssuances)
      .map((attempt): Issuance => {
        const { id, instance } = attempt;
        const [at, audience] = [local(countsFrom(attempt)), shownTokenName(attempt.audience)];
        const pendingUntil = isOpen(attempt, now) ? local(attempt.until) : undefined;
        return { id, at, reason: reasonOf(attempt), instance, audience, pending: !isCertain(attempt), pendingUntil };
      })
      .reverse()
      .sort((a, b) => b.at - a.at),
    resets: record.orders
      .filter(({ kind }) => kind === 'reset')
      .map(({ at, audience = '', tokenId, by: instance, reason }) => {
        return { at: local(at), audience: shownTokenName(audience), tokenId, instance, reason };
      })
      .reverse(),
    spentElsewhere: told && {
      at: local(told.at),
      count: told.tokens ?? 0,
      instance: told.by,
      reason: told.reason ?? '',
    },
    ...(quota.length > 0 && { quota, foreign: Math.max(...quota.map(({ foreign }) => foreign)) }),
  };
}

function becauseOf({ cause }: Refusal): Usage['refusedBecause'] {
  switch (cause) {
    case 'deaths':
    case 'misconfigured':
      return 'backoff';
    case 'rejections':
    case 'renewal':
      // These refuse nobody who has no token.
      return undefined;
    case 'backoff':
    case 'credentials':
    case 'full':
    case 'limit':
    case 'rate_limited':
      return cause;
  }
}

/** Returns the holds of a record, by the clock of this machine. */
export function holdsIn(view: View, limits: Limits, clock: Clock): Hold[] {
  const held = holdsOf(view.record, view.now, limits).filter(({ until }) => until > view.now);
  const sharedUntil = Math.max(0, ...held.filter(isOfFailures).map(({ audience, until }) => (audience ? 0 : until)));
  // While failures hold up everybody for as long, nobody asks whose they were.
  const told = held.filter((hold) => !isOfFailures(hold) || !hold.audience || hold.until > sharedUntil);
  return told.map(({ kind, until, audience, attempt }) => {
    const { at, status } = attempt?.outcome ?? {};
    const local = toLocalTime(until, view, clock);
    const hold = { until: local, audience: audience && shownTokenName(audience), status };
    if (kind !== 'credentials') return { ...hold, kind: kind === 'misconfigured' ? 'backoff' : kind };
    return { ...hold, kind, instance: attempt?.instance, failedAt: at && toLocalTime(at, view, clock) };
  });
}

function isOfFailures({ kind }: LedgerHold): boolean {
  return kind === 'backoff' || kind === 'deaths';
}

/** Returns the caller for whom a reader without a secret answers: the one for the audience without a token that waits for longest, or else nobody in particular. */
function anyCaller({ record, now }: View, limits: Limits): Caller {
  const served = new Set(tokensInUse(record, now).map(({ audience }) => audience));
  const glance = glanceAt(record, now, limits);
  const untilOf = (caller: Caller) =>
    Math.max(0, ...pace(record, now, caller, 'cold', limits, glance).holds.map(({ until }) => until));
  const callers = [
    { audience: '', keyId: '', secretId: '' },
    ...callersIn(record)
      .filter(({ audience }) => !served.has(audience))
      .map(({ audience, keyId, secretId }) => ({ audience, keyId, secretId })),
  ];
  return callers.reduce((longest, caller) => (untilOf(caller) > Math.max(now, untilOf(longest)) ? caller : longest));
}
