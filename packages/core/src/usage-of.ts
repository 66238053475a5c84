import type { Clock } from './clock.ts';
import { admission, nextFreeAt, type TermRoom, tightest } from './ledger/admission.ts';
import { availableFor, type Purpose, type Refusal, refusalOf } from './ledger/availability.ts';
import { type Caller, holdsOf } from './ledger/holds.ts';
import type { Limits } from './ledger/limits.ts';
import { spentAt } from './ledger/pace.ts';
import { type AudienceState, audienceStateOf, type LedgerRecord, type StoredToken } from './ledger/record.ts';
import { toLocalTime } from './ledger-time.ts';
import type { View } from './shared-ledger.ts';
import type { Hold, Usage, WindowUsage } from './usage.ts';

const maxIssuances = 150;

/** Computes the usage from a record. `caller`: the process that asks. Undefined: nobody in particular asks. */
export function usageOf(view: View, caller: Caller | undefined, limits: Limits, clock: Clock): Usage {
  const { record, now } = view;
  const local = (at: number) => toLocalTime(at, view, clock);
  const localOrNone = (at: number | undefined) => (at === undefined ? undefined : local(at));
  const rooms = admission(record, now, limits, 'cold');
  const windows = rooms.map((room) => windowOf(room, view, localOrNone));
  const first = rooms.indexOf(tightest(rooms) as TermRoom);
  const { tokens: limit, own: _, ...tight } = windows[first] as WindowUsage;
  const countsFrom = now - Math.max(0, ...rooms.map(({ term }) => term.pendingMs));
  const who = caller ?? anyCaller(record, now);
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
    issued: tight.used - tight.pending,
    underWay,
    unknown: tight.pending - underWay,
    availableNow: cold,
    available: { cold, refresh: available('refresh'), rejected: available('rejected'), reset: available('reset') },
    refusedUntil: localOrNone(refusal?.until),
    refusedBecause: refusal && becauseOf(refusal),
    spentAt: localOrNone(spentAt(record, now, limits)),
    windows,
    holds: holdsIn(view, limits, clock),
    tokens: tokensInUse(record, now).map(({ audience, token: { id, expiresAt, lifetimeMs } }) => {
      return { id, audience, issuedAt: local(expiresAt - lifetimeMs), expiresAt: local(expiresAt) };
    }),
    recordId: view.version === undefined ? undefined : record.epoch,
    storeAheadMs: view.storeAheadMs,
    warnings: view.warnings ?? [],
    issuances: record.entries
      .filter(({ at }) => at > countsFrom)
      .slice(-maxIssuances)
      .map((entry) => ({ ...entry, at: local(entry.at) }))
      .reverse(),
    resets: record.resets
      .map(({ at, audience, tokenId, instance, reason }) => ({ at: local(at), audience, tokenId, instance, reason }))
      .reverse(),
  };
}

function becauseOf({ cause }: Refusal): Usage['refusedBecause'] {
  return cause === 'limit' || cause === 'rate_limited' || cause === 'credentials' || cause === 'full'
    ? cause
    : 'backoff';
}

/** Returns the holds of a record, by the clock of this machine. */
export function holdsIn({ record, now, ...view }: View, limits: Limits, clock: Clock): Hold[] {
  return holdsOf(record, record.audiences, now, limits).map(({ kind, until, status, audience }) => {
    const local = toLocalTime(until, { record, now, ...view }, clock);
    return { kind: kind === 'misconfigured' ? 'backoff' : kind, until: local, audience, status };
  });
}

function tokensInUse(record: LedgerRecord, now: number): (AudienceState & { readonly token: StoredToken })[] {
  return record.audiences.flatMap((state) => {
    const { token } = audienceStateOf(record, state.audience, state.keyId);
    return token && token.expiresAt > now ? [{ ...state, token }] : [];
  });
}

/** Returns whom a reader without a secret speaks of: a process whose credentials were rejected and whose audience has no token, if there is one. */
function anyCaller(record: LedgerRecord, now: number): Caller {
  const served = new Set(tokensInUse(record, now).map(({ audience }) => audience));
  const refused = record.audiences.find(
    ({ audience, credentialsBackoff }) => !served.has(audience) && (credentialsBackoff?.retryAt ?? 0) > now,
  );
  const { audience = '', keyId = '', credentialsBackoff } = refused ?? {};
  return { audience, keyId, secretId: credentialsBackoff?.secretId ?? '' };
}

function windowOf(
  { term, own, used, pending }: TermRoom,
  view: View,
  local: (at: number | undefined) => number | undefined,
): WindowUsage {
  const { tokens, windowMs, usable } = term;
  const remaining = Math.max(0, usable - used);
  return {
    tokens,
    windowMs,
    usable,
    used,
    pending,
    remaining,
    nextFreeAt: local(nextFreeAt(view.record, view.now, term)),
    own,
  };
}
