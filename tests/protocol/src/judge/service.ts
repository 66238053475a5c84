import { codeOf } from './errors.ts';
import { sharesOf } from './numbers.ts';
import type { Promised } from './promised.ts';
import type { Asker, Call } from './sights.ts';
import { hour, minute, second } from './units.ts';

/** A caller gets a good token from memory, whatever fails. */
export const aGoodTokenIsServed: Promised = ({ facts: { hands } }, violated) => ({
  refused(call, error) {
    if (hands.goodSince(call) && codeOf(error) !== 'ERR_CLOSED') violated(String(error));
  },
});

/** A call with a good token does not wait for the token endpoint; it waits for the store a few seconds at most. */
export const noCallerWithAGoodTokenWaits: Promised = ({ world, facts: { hands } }, violated) => ({
  ended(call) {
    const { machine } = call.asker;
    const waitedMs = world.now - call.begunAt;
    const stoodStill = machine.frozenUntil > call.begunAt;
    if (waitedMs > 15 * second && !stoodStill && hands.goodSince(call)) violated(`${machine.name} ${waitedMs} ms`);
  },
});

/** Everybody gets a token within the promised time after the end of all faults, except callers that are refused because the budget is spent. */
export const everybodyIsServedInTheEnd: Promised = (_, violated) => ({
  unserved: (who, error) => violated(`${who}: ${error}`),
});

export const onlyAnAgreementOfTheFleetRefusesACaller: Promised = ({ facts: { agreements } }, violated) => ({
  refused({ asker: { machine } }, error) {
    if (codeOf(error) !== 'ERR_ISSUANCE_LIMIT') return;
    const { limit, windowMs } = error as { limit: number; windowMs: number };
    if (!agreements.mayRefuse({ tokens: limit, windowMs }, machine.name))
      violated(`${machine.name} by ${limit} in ${windowMs / minute} min`);
  },
});

/** Whatever time the clock of the store showed, and unless the budget is spent. Sparing the half of 24 tokens takes most of five hours. */
export const noPauseOutlivesItsClock: Promised = ({ settings: { storeAheadMs, feasible } }, violated) => ({
  refused({ asker }, error) {
    if (storeAheadMs === 0 || !feasible || codeOf(error) === 'ERR_ISSUANCE_LIMIT') return;
    const { retryAt = 0 } = error as { retryAt?: number };
    const pauseMs = retryAt - asker.machine.clock.now();
    if (pauseMs > 5 * hour) violated(`${pauseMs} ms`);
  },
});

/**
 * If the API of one audience rejects every token, a revoked token of another audience is replaced soon, unless the share of such renewals is spent, or the process
 * that asked for its replacement died.
 */
export const aRevokedTokenIsReplaced: Promised = ({ world, store, settings, facts: { usages } }, violated) => {
  // Two revocations within an hour, or a death: the next token is requested after a pause.
  const replacedWithinMs = 75 * minute;
  const rejectedSince = new Map<string, number>();

  function isShareSpent(): boolean {
    const { windows, issuances } = usages.latest ?? { windows: [], issuances: [] };
    return windows.some((window) => {
      const renewals = issuances.filter((one) => one.reason === 'rejected' && usages.isCounted(one, window));
      return renewals.length >= sharesOf(window.usable).renewals;
    });
  }

  /** When the last token was reserved of whose request nobody knows the outcome. */
  function lostAt(audience: string): number {
    const lost = usages.latest?.issuances.find((one) => one.pending && one.audience === audience);
    return lost ? world.now - (store().now() - lost.at) : 0;
  }

  return {
    answeredByApi(audience, status) {
      if (settings.rejecting === undefined || audience === settings.rejecting) return;
      if (status === 200) rejectedSince.delete(audience);
      else {
        const known = rejectedSince.get(audience) ?? world.now;
        const since = isShareSpent() ? world.now : Math.max(known, lostAt(audience));
        rejectedSince.set(audience, since);
        // A new record may spend little, and one audience may have spent that.
        if (since <= 27 * hour || world.now - since <= replacedWithinMs) return;
        violated(`${audience} since ${since}`);
        rejectedSince.delete(audience);
      }
    },
  };
};

/** The audiences for which the endpoint works wait for 80 minutes at most while it fails for others, or longer with a smaller limit. */
export const oneAudienceDoesNotStarveTheOthers: Promised = ({ world, settings, facts: { usages } }, violated) => {
  const failing = settings.failing?.audiences ?? [];
  const refused = new Map<string, { readonly since: number; readonly retryAt: number }>();
  const answered = ({ asker: { audience } }: Call) => void refused.delete(audience);
  return {
    served: answered,
    aborted: answered,
    refused({ asker: { audience, machine } }, error) {
      if (!settings.failing || failing.includes(audience)) return;
      if (!/^ERR_(TOKEN|CREDENTIALS|RATE)/.test(codeOf(error))) return;
      const before = refused.get(audience);
      const wallNow = machine.clock.now();
      const retryAt = world.now + ((error as { retryAt?: number }).retryAt ?? wallNow) - wallNow;
      // If nobody asked within a minute of the instant that was told, another audience may have had the request.
      const isLate = before === undefined || world.now > before.retryAt + minute;
      const since = isLate ? world.now : before.since;
      refused.set(audience, { since, retryAt });
      if (world.now - since <= usages.sparedForMs()) return;
      violated(`${audience} since ${since}: ${String(error)}`);
      refused.delete(audience);
    },
    happened({ audience }, { type }) {
      // If the endpoint works for it, this failure is one of chance, and all audiences wait for the pause after it.
      if (type === 'token_request_failed' && !failing.includes(audience)) refused.clear();
    },
  };
};

/** A fleet without faults refuses no caller, and nothing happens to it but tokens. */
export const aHealthyFleetDeniesNoCall: Promised = ({ settings }, violated) => {
  // A renewal that brought the same token is not tried again at once, and callers do not notice.
  const expected = settings.repeatsToken
    ? /^(token_(issued|adopted)|issuance_refused)$/
    : /^(token_(issued|adopted)|quota_observed)$/;
  let isHealthy = Object.keys(settings.rates).length === 0;
  return {
    refused(_call, error) {
      if (isHealthy) violated(String(error));
    },
    rejected({ audience }) {
      if (isHealthy) violated(`the API rejected a token of ${audience}`);
    },
    happened(_asker, { type }) {
      if (isHealthy && !expected.test(type)) violated(type);
    },
    faultsEnded() {
      isHealthy = false;
    },
  };
};

/**
 * The store and the endpoint answered each call, or the next one. A process that stood still for most of what it has for a request counts as dead, because no
 * other process can tell the difference; so after three in a row the fleet backs off. A call that stood still for three times as long may end.
 */
export const aLoopThatStoodStillIsNoFailure: Promised = ({ settings, facts: { standstills, leaseMs } }, violated) => {
  const callers = new Map<Asker, { waiting: number; blockedMs: number }>();
  const isFailure = settings.rates.load_fails_once ? /^token_request_failed$/ : /_failed$/;
  let nothingFails = settings.nothingFails ?? false;
  return {
    asked({ asker }) {
      // Callers share one attempt, which began with the first of them.
      const before = callers.get(asker) ?? { waiting: 0, blockedMs: 0 };
      if (before.waiting === 0) before.blockedMs = asker.machine.blockedMs;
      before.waiting += 1;
      callers.set(asker, before);
    },
    ended({ asker }) {
      const caller = callers.get(asker);
      if (caller) caller.waiting -= 1;
    },
    refused({ asker }, error) {
      if (!nothingFails) return;
      const stoodStillMs = asker.machine.blockedMs - (callers.get(asker)?.blockedMs ?? 0);
      const mayPause = standstills.count() >= 3 || stoodStillMs > 3 * leaseMs;
      if (codeOf(error) !== 'ERR_TOKEN_ENDPOINT' || !mayPause) violated(String(error));
    },
    happened(_asker, { type }) {
      if (nothingFails && isFailure.test(type)) violated(type);
    },
    faultsEnded() {
      nothingFails = false;
    },
  };
};

/** If nothing fails, only a process that stood still leaves a token of unknown outcome. */
export const aRunningProcessDoesNotCountAsDead: Promised = ({ settings, facts: { standstills } }, violated) => ({
  counted({ unknown }) {
    if (settings.nothingFails && unknown > standstills.count())
      violated(`${unknown} of unknown outcome, ${standstills.count()} stood still`);
  },
});
