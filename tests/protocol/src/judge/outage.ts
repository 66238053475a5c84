import type { Hold } from '@service-auth/core';
import { isRefusal, sentWithinMs } from './numbers.ts';
import type { Promised } from './promised.ts';
import type { SentRequest } from './sights.ts';
import { hour, minute } from './units.ts';

/** However long requests have an unknown outcome, they never spend three quarters of what may be spent: by the count of the endpoint, and by that of `getUsage()`. */
export const aQuarterOfTheBudgetIsLeft: Promised = ({ world, settings }, violated) => {
  const isScarce = settings.outage ?? settings.dying ?? settings.failing;
  let open: readonly (readonly [SentRequest, number])[] = [];
  return {
    sending(request) {
      if (isScarce) open = [...open, [request, world.now]];
    },
    answered(request, { status, hasToken }) {
      const isKnown = status === undefined || hasToken || isRefusal(status);
      if (isKnown) open = open.filter(([other]) => other !== request);
    },
    counted({ windows }) {
      if (!isScarce) return;
      for (const { windowMs, pending, usable } of windows) {
        const lost = open.filter(([, at]) => at > world.now - windowMs).length;
        if (Math.max(lost, pending) > Math.max(7, Math.ceil(0.75 * usable)))
          violated(`${lost} lost, ${pending} pending, of ${usable}`);
      }
    },
  };
};

/** While `getUsage()` shows that the fleet is held up, no request is sent. */
export const theFleetBacksOffTogether: Promised = ({ world, store, facts: { usages, orders } }, violated) => {
  const since = new Map<string, number>();
  let holds: readonly Hold[] = [];
  const keyOf = ({ kind, audience, until }: Hold) => `${kind} ${audience ?? ''} ${until}`;

  return {
    counted(usage) {
      holds = usage.holds.filter(({ kind }) => /^(backoff|deaths|rate_limited)$/.test(kind));
      const keys = new Set(holds.map(keyOf));
      for (const key of since.keys()) if (!keys.has(key)) since.delete(key);
      for (const key of keys) if (!since.has(key)) since.set(key, world.now);
    },
    sending({ audience, machine }) {
      if (!usages.areComparable || !usages.isUniform) return;
      const broken = holds.find((hold) => {
        const isForIt = hold.audience === undefined || hold.audience === audience;
        const heldForMs = world.now - (since.get(keyOf(hold)) ?? world.now);
        return isForIt && hold.until > store().now() && heldForMs > sentWithinMs;
      });
      if (broken && !orders.mayEndPauses()) violated(`${machine} during ${keyOf(broken)}`);
    },
  };
};

/** An audience whose requests bring no token asks ever more rarely. The bounds leave room for orders, other secrets and steps of the clock. */
export const aFleetThatFailsAsksRarely: Promised = ({ world }, violated) => {
  const bounds = [
    { withinMs: minute, most: 15 },
    { withinMs: hour, most: 45 },
  ];
  const sentAt = new Map<string, readonly number[]>();
  return {
    sending({ audience }) {
      const sent = [...(sentAt.get(audience) ?? []).slice(-45), world.now];
      sentAt.set(audience, sent);
      for (const { withinMs, most } of bounds) {
        const recent = sent.filter((at) => at > world.now - withinMs).length;
        if (recent > most) violated(`${recent} requests for ${audience} within ${withinMs / minute} min`);
      }
    },
    answered(_request, { hasToken }) {
      if (hasToken) sentAt.clear();
    },
  };
};

/** A process may send a request for seconds after its reservation, and not later: nobody would know any more when its token was issued. */
export const aLateRequestIsNotSent: Promised = ({ world }, violated) => {
  const wroteAt = new Map<string, number>();
  return {
    wrote(machine) {
      wroteAt.set(machine, world.now);
    },
    sending({ machine }) {
      const afterMs = world.now - (wroteAt.get(machine) ?? Number.NEGATIVE_INFINITY);
      if (afterMs > sentWithinMs) violated(`${machine} ${afterMs} ms after its last write`);
    },
  };
};

/** What the endpoint said holds for the whole fleet, from the first write of the process that was told until somebody orders to try again. */
export const retryAfterIsFollowed: Promised = ({ world, settings, facts: { usages, orders } }, violated) => {
  // A process that stands still reads the answer at a moment that the judge does not know.
  const standsStill = (['freeze', 'freeze_at_call', 'freeze_at_send'] as const).some((fault) => settings.rates[fault]);
  const shortestMs = Math.min(
    ...settings.phases.flatMap(({ agreements }) =>
      agreements.flatMap(({ windows }) => windows.map(({ windowMs }) => windowMs)),
    ),
  );
  // The clock of the store decides when it is over, and may be set forward.
  const toleranceMs = settings.rates.store_clock_step ? Math.min(10 * minute, shortestMs / 144) : 0;
  const told = new Map<string, { readonly at: number; readonly until: number; readonly status: number }>();
  const sentAt = new Map<SentRequest, number>();
  const hasToken = new Map<string, number>();
  let waits = { from: 0, until: 0, status: 0 };
  return {
    sending(request) {
      sentAt.set(request, world.now);
      if (!usages.areComparable || settings.storeAheadMs > 0) return;
      const isOver = world.now > waits.until - toleranceMs;
      if (isOver || world.now - waits.from <= sentWithinMs || orders.mayEndPauses()) return;
      violated(`${request.machine} ${waits.until - world.now} ms too early`);
    },
    retryOrdered() {
      waits = { ...waits, until: 0 };
    },
    answered(request, ending) {
      const { toldMs, status = 0 } = ending;
      if (ending.hasToken) hasToken.set(request.machine, sentAt.get(request) ?? 0);
      if (toldMs > 0 && !standsStill) told.set(request.machine, { at: world.now, until: world.now + toldMs, status });
    },
    wrote(machine, calledAt) {
      const tokenSentAt = hasToken.get(machine);
      hasToken.delete(machine);
      // A token shows that the endpoint is available again. A limit of its rate is over only if the token was requested since.
      const isOver = tokenSentAt !== undefined && (waits.status === 503 || tokenSentAt > waits.from);
      if (isOver) waits = { ...waits, until: 0 };
      const word = told.get(machine);
      // The first that a process writes after the answer has the outcome, unless it has that of another request.
      if (!word || calledAt < word.at || tokenSentAt !== undefined) return;
      told.delete(machine);
      if (word.until > waits.until) waits = { ...word, from: world.now };
    },
  };
};

/** Processes that die have at most 25 tokens of an audience issued in three hours. What several audiences may spend is half of the budget. */
export const deathsArePaced: Promised = ({ service, settings: { dying, failing, audiences } }, violated) => {
  const most = 25;
  return {
    faultsEnded() {
      if (!dying) return;
      for (const audience of failing?.audiences ?? audiences) {
        const issuedAt = service()
          .issued.filter((token) => token.audience === audience)
          .map((token) => token.issuedAt);
        const isMany = issuedAt.some(
          (at, index) => (issuedAt[index + most] ?? Number.POSITIVE_INFINITY) - at < 3 * hour,
        );
        if (isMany) violated(`more than ${most} tokens of ${audience} in three hours`);
      }
    },
  };
};

/** Two processes that die in a row hold nobody up, whoever died before the last token. */
export const aTokenEndsTheRowOfDeaths: Promised = (_, violated) => ({
  triedDeaths(isServed) {
    if (!isServed) violated('two deaths after a token');
  },
});
