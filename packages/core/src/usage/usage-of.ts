import { shownTokenName } from '../contract/token-parameters.ts';
import { countsFrom, roomsIn, type TermRoom, tightest } from '../ledger/count.ts';
import { availableFor, type Purpose, type Refused, refusedUntil, spentAt } from '../ledger/forecast.ts';
import { statedIn } from '../ledger/orders.ts';
import { type Asker, allHolds, type Hold as LedgerHold } from '../ledger/pace.ts';
import { figuresOf } from '../ledger/quota.ts';
import { isOneRequest, isOpen, type LogEntry, reasonOf, type Spent, settledAt, tokensInUse } from '../ledger/record.ts';
import type { Clock } from '../platform/clock.ts';
import { toLocalTime, type View } from '../record/view.ts';
import type { Hold, Issuance, QuotaUsage, Usage, WindowUsage } from './usage.ts';

const maxIssuances = 150;

/**
 * Computes the usage from a record. `asker`: the process that asks. Undefined: no particular
 * process.
 */
export function usageOf(view: View, asker: Asker | undefined, clock: Clock): Usage {
  const { record, now } = view;
  const local = <At extends number | undefined>(at: At) => at && (toLocalTime(at, view, clock) as At & number);
  const rooms = roomsIn(view, 'cold');
  const windows = rooms.map(({ term, own, used, unknown: pending, nextFreeAt }): WindowUsage => {
    const { tokens, windowMs, counts, enforce, usable } = term;
    const remaining = Math.max(0, usable - used);
    return {
      tokens,
      windowMs,
      counts,
      enforce,
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
  const { newRecord: restriction, term: tightTerm } = rooms[first] as TermRoom;
  const newRecord = tightTerm.enforce === false ? undefined : restriction;
  const windowsFrom = now - Math.max(0, ...rooms.map(({ term }) => term.pendingMs));
  const who = asker ?? anyAsker(view);
  const available = (purpose: Purpose) => availableFor(purpose, view, who);
  const cold = available('cold');
  const refused = refusedUntil(view, who);
  const underWay = Math.min(tight.pending, record.spent.filter((one) => isOpen(one, now)).length);
  const stated = statedIn(record, windowsFrom);
  const statement = record.log.findLast(({ kind }) => kind === 'spent');
  const quota = figuresOf(record, now).map(({ quota, foreign, at, endsAt }): QuotaUsage => {
    const { windowMs, tokens, remaining } = quota;
    return { windowMs, tokens, remaining, foreign, observedAt: local(at), resetAt: local(endsAt) };
  });
  return {
    limit,
    ...tight,
    underWay,
    unknown: tight.pending - underWay,
    availableNow: cold,
    available: { cold, refresh: available('refresh'), rejected: available('rejected'), reset: available('reset') },
    refusedUntil: local(refused?.until),
    refusedBecause: refused && shownCauses[refused.cause],
    spentAt: local(spentAt(view)),
    newRecord: newRecord && {
      allowed: newRecord.allowed,
      remaining: newRecord.remaining,
      until: local(newRecord.endsAt),
    },
    windows,
    holds: holdsIn(view, clock),
    tokens: tokensInUse(record, now).map(({ name, id, expiresAt, lifetimeMs }) => {
      return {
        id,
        audience: shownTokenName(name),
        issuedAt: local(expiresAt - lifetimeMs),
        expiresAt: local(expiresAt),
      };
    }),
    recordId: view.version === undefined ? undefined : record.id,
    storeAheadMs: view.storeAheadMs,
    warnings: view.warnings ?? [],
    issuances: record.spent
      .filter((one) => isIssuance(one) && countsFrom(one) > windowsFrom)
      .slice(-maxIssuances)
      .map((one): Issuance => {
        const { id, instance, name, died, overLimit } = one;
        const [at, audience] = [local(countsFrom(one)), shownTokenName(name)];
        const pendingUntil = isOpen(one, now) ? local(one.until) : undefined;
        const pending = settledAt(one) === undefined;
        return { id, at, reason: reasonOf(one), instance, audience, died, overLimit, pending, pendingUntil };
      })
      .reverse()
      .sort((a, b) => b.at - a.at),
    resets: record.log
      .filter(({ kind }) => kind === 'reset')
      .map(({ at, name = '', tokenId, by: instance, reason }: LogEntry) => {
        return { at: local(at), audience: shownTokenName(name), tokenId, instance, reason };
      })
      .reverse(),
    spentElsewhere: stated && {
      at: local(stated.at),
      count: stated.tokens ?? 0,
      instance: stated.instance,
      reason: statement?.reason ?? '',
    },
    ...(quota.length > 0 && { quota, foreign: Math.max(...quota.map(({ foreign }) => foreign)) }),
  };
}

function isIssuance(one: Spent): boolean {
  return one.refusedAt === undefined && isOneRequest(one);
}

/** The public word for each cause. Undefined: the cause refuses no caller that has no token. */
const shownCauses: Readonly<Record<Refused['cause'], Usage['refusedBecause']>> = {
  backoff: 'backoff',
  credentials: 'credentials',
  deaths: 'backoff',
  full: 'full',
  limit: 'limit',
  misconfigured: 'backoff',
  rate_limited: 'rate_limited',
  rejections: undefined,
  renewal: undefined,
};

/** Returns the holds of a record, by the clock of this machine. */
export function holdsIn(view: View, clock: Clock): Hold[] {
  const held = holdsAt(view);
  const sharedUntil = Math.max(0, ...held.filter(isOfFailures).map(({ name, until }) => (name ? 0 : until)));
  // While failures hold up all tokens for as long, the holds of single tokens say nothing more.
  const told = held.filter((hold) => !isOfFailures(hold) || !hold.name || hold.until > sharedUntil);
  return told.flatMap(({ kind, until, name, last, refused }): Hold[] => {
    const hold = {
      until: toLocalTime(until, view, clock),
      audience: name && shownTokenName(name),
      status: last?.status,
    };
    if (kind === 'limit') return [];
    if (kind !== 'credentials') return [{ ...hold, kind: kind === 'misconfigured' ? 'backoff' : kind }];
    return [{ ...hold, kind, instance: refused?.instance, failedAt: last && toLocalTime(last.at, view, clock) }];
  });
}

function isOfFailures({ kind }: LedgerHold): boolean {
  return kind === 'backoff' || kind === 'deaths';
}

/**
 * Returns the asker for which a reader without a secret computes the usage: one that needs the
 * token with the longest hold, if any token is on hold.
 */
function anyAsker(view: View): Asker {
  const served = new Set<string | undefined>(tokensInUse(view.record, view.now).map(({ name }) => name));
  const longest = holdsAt(view).findLast(({ kind, name }) => {
    return kind !== 'rejections' && kind !== 'renewal' && !served.has(name);
  });
  const { name = '', refused } = longest ?? {};
  return { name, keyId: refused?.keyId ?? '', secretId: refused?.secretId ?? '' };
}

/** Returns the holds of a record that have not ended, in the order of their ends. */
function holdsAt(view: View): LedgerHold[] {
  return allHolds(view).filter(({ until }) => until > view.now);
}
