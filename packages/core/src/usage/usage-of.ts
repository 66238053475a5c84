import { shownTokenName } from '../contract/token-parameters.ts';
import { admission, nextFreeAt, type TermRoom, tightest } from '../ledger/admission.ts';
import { availableFor, type Purpose, type Refusal, refusalOf } from '../ledger/availability.ts';
import { withDeaths } from '../ledger/deaths.ts';
import { denialOf } from '../ledger/decide.ts';
import { binds, type Caller, holdsOf, type Hold as LedgerHold } from '../ledger/holds.ts';
import type { Limits } from '../ledger/limits.ts';
import { spentAt } from '../ledger/pace.ts';
import { type AudienceState, audienceStateOf, type LedgerRecord, type StoredToken } from '../ledger/journal.ts';
import type { Clock } from '../platform/clock.ts';
import { toLocalTime } from '../record/record-time.ts';
import type { View } from '../record/shared-record.ts';
import type { Hold, Usage, WindowUsage } from './usage.ts';

const maxIssuances = 150;

/** Computes the usage from a record. `caller`: the process that asks. Undefined: nobody in particular asks. */
export function usageOf(view: View, caller: Caller | undefined, limits: Limits, clock: Clock): Usage {
  const { record, now } = view;
  const { spentElsewhere: told } = record;
  const local = <At extends number | undefined>(at: At) => at && (toLocalTime(at, view, clock) as At & number);
  const rooms = admission(record, now, limits, 'cold');
  const windows = rooms.map(({ term, own, used, pending }): WindowUsage => {
    const { tokens, windowMs, usable } = term;
    const remaining = Math.max(0, usable - used);
    return {
      tokens,
      windowMs,
      usable,
      used,
      pending,
      remaining,
      nextFreeAt: local(nextFreeAt(record, now, term)),
      own,
    };
  });
  const first = rooms.indexOf(tightest(rooms) as TermRoom);
  const { tokens: limit, own: _, ...tight } = windows[first] as WindowUsage;
  const { newRecord } = rooms[first] as TermRoom;
  const countsFrom = now - Math.max(0, ...rooms.map(({ term }) => term.pendingMs));
  const who = caller ?? anyCaller(view, limits);
  const available = (purpose: Purpose) => availableFor(purpose, record, now, who, limits);
  const cold = available('cold');
  const refusal = refusalOf(record, now, who, limits);
  const leases = record.audiences.flatMap(({ lease }) => (lease && lease.until > now ? [lease.id] : []));
  const underWay = Math.min(
    tight.pending,
    record.entries.filter(({ id, pending }) => pending && leases.includes(id)).length,
  );
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
    tokens: tokensInUse(record, now).map(({ audience, token: { id, expiresAt, lifetimeMs } }) => {
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
    issuances: record.entries
      .filter(({ at }) => at > countsFrom)
      .slice(-maxIssuances)
      .map((entry) => ({ ...entry, audience: shownTokenName(entry.audience), at: local(entry.at) }))
      .reverse(),
    resets: record.resets
      .map(({ at, audience, tokenId, instance, reason }) => {
        return { at: local(at), audience: shownTokenName(audience), tokenId, instance, reason };
      })
      .reverse(),
    spentElsewhere: told && told.at > countsFrom ? { ...told, at: local(told.at) } : undefined,
  };
}

function becauseOf({ cause }: Refusal): Usage['refusedBecause'] {
  switch (cause) {
    case 'deaths':
    case 'misconfigured':
      return 'backoff';
    case 'rejections':
    case 'renewal':
    case 'unreadable':
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
  return heldIn(view, limits).map(({ kind, until, status, audience, state }) => {
    const local = toLocalTime(until, view, clock);
    const hold = { until: local, audience: audience && shownTokenName(audience), status };
    if (kind !== 'credentials') return { ...hold, kind: kind === 'misconfigured' ? 'backoff' : kind };
    const { instance, failedAt } = state?.credentialsBackoff ?? {};
    return { ...hold, kind, instance, failedAt: failedAt && toLocalTime(failedAt, view, clock) };
  });
}

/** Returns the holds of a record. Deaths that no reservation has counted yet hold, too. */
function heldIn({ record, now }: View, limits: Limits): readonly LedgerHold[] {
  return holdsOf(withDeaths(record, now, limits), record.audiences, now, limits);
}

function tokensInUse(record: LedgerRecord, now: number): (AudienceState & { readonly token: StoredToken })[] {
  return record.audiences.flatMap((state) => {
    const { token } = audienceStateOf(record, state.audience, state.keyId);
    return token && token.expiresAt > now ? [{ ...state, token }] : [];
  });
}

/** Returns whom a reader without a secret speaks of: if only some callers are refused, one for the audience that has no token and waits for longest. */
function anyCaller(view: View, limits: Limits): Caller {
  const { record, now } = view;
  const anybody = callerOf({});
  if (denialOf(record, now, anybody, 'cold', limits)) return anybody;
  const served = new Set(tokensInUse(record, now).map(({ audience }) => audience));
  const [longest = {}] = heldIn(view, limits)
    .filter((hold) => !served.has(hold.audience ?? '') && binds(hold, callerOf(hold), 'cold'))
    .sort((a, b) => b.until - a.until);
  return callerOf(longest);
}

function callerOf({ audience = '', state }: Partial<LedgerHold>): Caller {
  return { audience, keyId: state?.keyId ?? '', secretId: state?.credentialsBackoff?.secretId ?? '' };
}
