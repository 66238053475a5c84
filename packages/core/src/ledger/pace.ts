import { type Caller, concerns, type Hold, refusalHold, rejections, renewalHolds, toldHolds } from './holds.ts';
import type { Attempt, IssuanceReason, LedgerRecord, Order } from './journal.ts';
import type { Limits } from './limits.ts';
import { openOrder } from './orders.ts';
import { isAboutClient, mayProbe, type Refused, refusalsOf } from './refusals.ts';
import { type Spared, sparedBy } from './sparing.ts';
import { type Fleet, fleetOf, type Streak } from './streaks.ts';
import { countsRequests, enforcedTerms } from './terms.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
/** At most this many token requests of a fleet may be under way. */
const mostOpen = 256;

/** The answer of {@link pace}. */
export interface Pace {
  /** What holds the caller up, and what did. It may ask when all of them have ended. */
  readonly holds: readonly Hold[];
  /** Before this instant it asks only if the endpoint answers a probe. */
  readonly probesUntil: number;
  /** The requests under way for whose outcomes it waits end by then. 0: it waits for none. */
  readonly waitsUntil: number;
  /** What the attempt carries on, so that earlier ones may be forgotten. */
  readonly carried: Pick<
    Attempt,
    'streak' | 'sinceToken' | 'fleetStreak' | 'inVain' | 'fleetInVain' | 'probed' | 'order'
  >;
}

/** What many questions to {@link pace} about one record and instant have in common. */
export interface Glance {
  readonly fleet: Fleet;
  readonly spared: Spared;
  readonly refusals: readonly Refused[];
  /** The order to try again that the next attempt obeys. */
  readonly order: Order | undefined;
  readonly mayProbe: boolean;
  /** A quarter of the usable tokens, or less if there are very many. */
  readonly maxOpen: number;
}

export function glanceAt(record: LedgerRecord, now: number, limits: Limits): Glance {
  const terms = enforcedTerms(record, now, limits).map(({ term }) => term);
  const usable = terms.map((term) => term.usable);
  const quarter = Math.max(1, Math.floor(Math.min(...usable) / 4));
  const fleet = fleetOf(record, now);
  return {
    fleet,
    spared: sparedBy(record, now, limits, fleet.lastCostAt),
    refusals: refusalsOf(record),
    order: openOrder(record, now),
    mayProbe: mayProbe(record) && !countsRequests(terms),
    maxOpen: Math.min(mostOpen, quarter),
  };
}

/**
 * Says how soon the caller may try. A failure is an attempt of unknown outcome, one that never reached the endpoint, or one whose process is gone. A streak is
 * failures without a token between them. It ends when nobody has failed for an hour after the next attempt was allowed. The seven rules are those of docs/issuance-limits.md:
 *
 * 1. An audience waits 1, 2, 4 … seconds for its own streak, and 15 minutes at most.
 * 2. The fleet waits in the same way, 10 minutes at most, if two audiences have failed since its last token. Those that failed then take turns.
 * 3. While a streak holds an audience up, one request is sent at a time. At any time, requests for at most a quarter of the usable tokens, and at most 256, are under way.
 * 4. An answer that says "later" holds for the whole fleet, for as long as it says, or a refusal that says no time for 15 minutes.
 * 5. When a quarter of the budget is of unknown outcome, token requests are so far apart that half of it is left after a long outage. From three eighths
 *    on, the time between them doubles, up to 110 minutes. After 10 to 15 minutes a probe may go first: if it is answered, the token request follows at
 *    once, unless an earlier one failed after such a probe. While the record is new, the budget is the few tokens that a new record allows.
 * 6. A refused request is repeated after 5, 10, then 15 minutes. Other credentials are tried at once. If the client was refused, all audiences wait.
 * 7. Renewals after 401s are 1, 2, 4 … 60 minutes apart for each audience, but the first one comes at once.
 *
 * One more hold is about one token: the endpoint returns the same one until it expires.
 *
 * After an order to try again, one attempt ignores all of this. But it is not sent if the endpoint does not answer a probe, or if the renewals after 401s have spent
 * their share.
 */
export function pace(
  record: LedgerRecord,
  now: number,
  caller: Caller,
  reason: IssuanceReason,
  limits: Limits,
  glance: Glance = glanceAt(record, now, limits),
): Pace {
  const { fleet, order } = glance;
  const outage = outageFor(caller.audience, now, glance);
  const { fleetStreak, failing, alone } = outage;
  const probesFirst = now < outage.from && (order ? glance.mayProbe : now >= outage.askAt);
  const refusals = glance.refusals.filter((refused) => concerns(refused, caller));
  const passedOver = [
    ...outageHolds(outage, fleet, caller.audience),
    ...toldHolds(fleet),
    ...refusals.map(refusalHold),
    ...(reason === 'refresh' ? renewalHolds(record, caller) : []),
  ];
  const holds = [
    ...(order ? [] : passedOver),
    ...(reason === 'rejected' ? rejections(record, now, caller.audience, limits, order !== undefined) : []),
  ];
  // After refusals of the client, the first request has to show that it is accepted again. Some operators lock a client after a few failed logins.
  const isRefused = refusals.some(({ outcome }) => outcome.holdUntil + hour > now && isAboutClient(outcome));
  const isAlone = alone || isRefused;
  const waits = order ? false : fleet.open.length >= (isAlone ? 1 : glance.maxOpen);
  return {
    holds,
    probesUntil: probesFirst ? outage.from : 0,
    waitsUntil: waits ? Math.min(...fleet.open.map(({ until }) => until)) : 0,
    carried: {
      streak: outage.own,
      sinceToken: failing?.sinceToken ?? 0,
      fleetStreak,
      inVain: failing?.inVain || undefined,
      fleetInVain: (fleet.failing.size > 0 && fleet.all.inVain) || undefined,
      probed: probesFirst || undefined,
      order: order?.id,
    },
  };
}

/** What the failures of an audience and of the others mean for its next attempt. */
interface Outage {
  /** It may ask then, before `from` only after a probe. Others, which wait for no turn, may from `sharedAt` on. */
  readonly askAt: number;
  readonly from: number;
  readonly sharedAt: number;
  readonly alone: boolean;
  readonly failing: Streak | undefined;
  readonly own: number;
  readonly fleetStreak: number;
}

function ladder(count: number, maxMs: number): number {
  return Math.min(maxMs, second * 2 ** Math.min(count - 1, 30));
}

/** Rules 1, 2 and 5 of {@link pace}. */
function outageFor(audience: string, now: number, glance: Glance): Outage {
  const { fleet } = glance;
  const failing = fleet.streaks.get(audience);
  const own = failing && !isOver(failing, now, glance) ? failing : undefined;
  const isOutage = fleet.failing.size > 0 && !isOver(fleet.all, now, glance);
  const shared = isOutage && fleet.failing.size > 1 ? fleet.all : undefined;
  return {
    ...allowedAfter(failing, shared, glance, (pauseMs) => (failing ? turnOf(audience, fleet, now, pauseMs) : 0)),
    sharedAt: shared ? allowedAfter(undefined, shared, glance, () => 0).askAt : 0,
    alone: Boolean(shared || failing),
    failing,
    own: own?.count ?? 0,
    fleetStreak: isOutage ? fleet.all.count : 0,
  };
}

/** A streak is over if nobody has failed for an hour after the next attempt was allowed. */
function isOver({ last, count, costly }: Streak, now: number, { fleet, spared }: Glance): boolean {
  return now > Math.max(fleet.lastFailedAt, last + ladder(count, 15 * minute), costly ? spared.until : 0) + hour;
}

/** When an audience with these failures of its own may ask, and when it may do so without a probe. `turnOf`: how much of a pause it waits for its turn. */
function allowedAfter(
  failing: Streak | undefined,
  shared: Streak | undefined,
  { fleet: { all, failing: names, streaks, openedAt, lastCostAt }, spared, mayProbe }: Glance,
  turnOf: (pauseMs: number) => number,
): Pick<Outage, 'askAt' | 'from'> {
  // Turns take up to five minutes more.
  const mostMs = streaks.size > 1 ? 10 * minute : 15 * minute;
  const allowedAt = Math.max(
    shared ? shared.last + ladder(shared.count, mostMs) : 0,
    failing ? failing.last + ladder(failing.count, mostMs) : 0,
  );
  const from = shared ? allowedAt + turnOf(allowedAt - all.last) : allowedAt;
  const isOpened = openedAt > (failing ?? all).last;
  const isSpared = spared.until > 0 && !isOpened && Boolean(failing?.costly || shared?.costly);
  const turnMs = isSpared ? turnOf(spared.until - lastCostAt) : 0;
  const sparedUntil = isSpared ? spared.untilTurn(turnMs) : 0;
  if (sparedUntil <= from) return { askAt: from, from };
  const isVain = failing?.inVain || (names.size > 1 && all.inVain);
  const probeAt = Math.max(
    from,
    turnMs + (shared ? shared.last + mostMs : 0),
    turnMs + (failing ? failing.last + mostMs : 0),
  );
  // An audience that has not failed may ask after a probe while less than three eighths is of unknown outcome.
  const vainUntil = failing ? sparedUntil : spared.othersAt;
  const askAt = mayProbe ? Math.max(probeAt, isVain ? vainUntil : 0) : sparedUntil;
  return { askAt: Math.min(sparedUntil, askAt), from: sparedUntil };
}

/** Those that failed ask one after the other: first who had a token within two days, then who failed least often, then who waits longest. */
function turnOf(audience: string, { streaks, issuedAt }: Fleet, now: number, pauseMs: number): number {
  if (streaks.size < 2) return 0;
  const hadToken = (name: string) => Number((issuedAt.get(name)?.at ?? 0) > now - 2 * day);
  const turns = [...streaks]
    .sort(([a, one], [b, other]) => {
      return hadToken(b) - hadToken(a) || one.sinceToken - other.sinceToken || one.last - other.last;
    })
    .map(([name]) => name);
  return Math.ceil((Math.min(5 * minute, Math.max(0, pauseMs) / 2) * (turns.indexOf(audience) + 1)) / turns.length);
}

function outageHolds({ askAt, sharedAt, failing }: Outage, { all }: Fleet, audience: string): Hold[] {
  const hold = (until: number, { count, lastAttempt: attempt }: Streak, of?: string): Hold => {
    return { kind: attempt?.outcome ? 'backoff' : 'deaths', until, count, audience: of, attempt };
  };
  const forAll = sharedAt > 0 ? [hold(sharedAt, all)] : [];
  return failing && askAt > sharedAt ? [...forAll, hold(askAt, failing, audience)] : forAll;
}
