import { admission, sparingMs } from '../../../packages/core/src/ledger/admission.ts';
import { withDeaths } from '../../../packages/core/src/ledger/deaths.ts';
import { leavesAt, limitsFor, type TermLimits, termLimits } from '../../../packages/core/src/ledger/limits.ts';
import type { LedgerRecord } from '../../../packages/core/src/ledger/record.ts';
import { isRetryOpen } from '../../../packages/core/src/ledger/retry.ts';
import { decoded } from '../../../packages/core/src/record/store-answers.ts';
import { createLeaseWatch } from './lease-watch.ts';
import type { Service } from './service.ts';
import type { Settings } from './settings.ts';
import type { Side, SimulatedStore } from './simulated-store.ts';
import { usageDiffers } from './usage-watch.ts';
import type { World } from './world.ts';

/** Watches the record itself, by core's own functions; where code is tried that is wrong on purpose, by the right ones. */
export interface LedgerWatch {
  /** The record was replaced. */
  applied(side: Side): void;
  /** The service issued a token. */
  issued(): void;
  /** A process sends a token request. */
  /** A token request left that may issue so many tokens; a negative number: they were surely not issued. */
  mayHaveIssued(tokens: number): void;
  sending(machine: string, isProbe: boolean): void;
  /** A process is told to wait for so long. */
  toldToWait(machine: string, forMs: number, status: number): void;
  /** The record was replaced by a call that a process made at `calledAt`. */
  wrote(machine: string, calledAt: number): void;
  /** The endpoint answers the probe of a process. */
  probeAnswered(machine: string): void;
  /** A quarter of the budget is of unknown outcome: the rest is spared. */
  readonly spares: boolean;
  /** Three processes stood still for so long that they count as dead: the fleet may back off. */
  readonly mayPaceDeaths: boolean;
}

const hour = 3_600_000;
const day = 24 * hour;
/** From a decision to the request that follows it. */
const sentWithinMs = 12_000;

/** Creates the watch of one run. The content of a lost record cannot be compared, so only its form is checked then. */
export function createLedgerWatch(
  world: World,
  settings: Settings,
  service: () => Service,
  store: () => SimulatedStore,
  violated: (promise: string, detail: string) => void,
  blockedMsOf: (machine: string) => number,
): LedgerWatch {
  const { durability, lossesPerWindow, rates } = settings;
  // Where processes have different agreements, each of them sees other rooms: what they share of the record is checked.
  const agreements = settings.phases.flatMap((phase) => phase.agreements);
  const isUniform = agreements.length === 1 && !settings.phases.some(({ inheriting }) => inheriting);
  const windows = agreements.flatMap((agreement) => agreement.windows);
  const limits = limitsFor(windows, isUniform ? agreements[0]?.reserve : 0, durability);
  const terms = limits.terms.map((term) => termLimits(term, durability));
  const usedIn = (record: LedgerRecord, term: TermLimits) =>
    admission(record, ledgerNow(), { ...limits, terms: [term] }, 'reset')[0]?.used ?? 0;
  const isComparable =
    lossesPerWindow === 0 && !rates.store_clock_wild && !rates.store_clock_set_back && !rates.store_clock_leap;
  let known: LedgerRecord | undefined;
  let applications = 0;
  const mayBeIssued: { readonly at: number; readonly tokens: number }[] = [];
  const shortestMs = Math.min(...windows.map(({ windowMs }) => windowMs));
  const clockToleranceMs = rates.store_clock_step ? Math.min(600_000, shortestMs / 144) : 0;
  const nothing = { retryAt: 0, since: 0, audience: undefined as string | undefined };
  const backoffs = { rateLimit: nothing, failures: nothing, 'requests without a probe': nothing };
  const takenAt = new Map<string, number>();
  const probedAt = new Map<string, number>();
  const told = new Map<string, { readonly at: number; readonly until: number; readonly status: number }>();
  let hasIssued = false;
  let waits = { from: 0, until: 0, status: 0 };
  const leases = settings.nothingFails ? createLeaseWatch(blockedMsOf, violated) : undefined;

  function ledgerNow(): number {
    return Math.max(known?.highWaterAt ?? 0, store().now());
  }

  function compare(): void {
    if (!isComparable) return;
    for (const term of terms) {
      // The record keeps for eight days what all its terms have forgotten.
      if (!isUniform && term.windowMs > 7 * day) continue;
      const issued = service().issuedSince(world.now - term.windowMs - Math.min(hour, term.windowMs / 24));
      const used = known ? usedIn(known, term) : 0;
      if (used * (settings.tokensPerRequest ?? 1) < issued)
        violated('the ledger counts every token', `${used} counted, ${issued} issued`);
    }
  }

  function compareCosts(record: LedgerRecord): void {
    const [term] = terms;
    if (!settings.countIsExact || !term) return;
    const since = world.now - term.pendingMs - term.windowMs / 24;
    const due = mayBeIssued.reduce((all, { at, tokens }) => (at > since ? all + tokens : all), 0);
    // A reservation is entered before its request, and taken back after it.
    const underWay = settings.processes * settings.audiences.length;
    const used = usedIn(record, term);
    if (used > due + underWay) violated('what was not issued costs nothing', `${used} counted, ${due} may be issued`);
  }

  function comparePurposes(before: LedgerRecord | undefined, record: LedgerRecord, term: TermLimits): void {
    const used = usedIn(record, term);
    const usedBefore = before ? usedIn(before, term) : 0;
    const counted = record.entries.filter((entry) => leavesAt(entry, term) > ledgerNow());
    // A request that fetch sent twice counts twice, whatever it was for.
    const entries = counted.filter(({ id }) => !id.endsWith('+'));
    const present = new Set(before?.entries.map(({ id }) => id));
    // Reservations that are written together were made one after another.
    const added = entries.filter(({ id }) => !present.has(id));
    for (const [index, { reason }] of added.entries()) {
      // The oldest entries may have been added up with later ones by this write, and count for longer since.
      const usedThen = Math.min(used - (added.length - 1 - index), usedBefore + index + 1);
      if (usedThen > term.ceilings[reason]) violated('every purpose keeps to its share', `${reason} at ${usedThen}`);
    }
    const renewals = entries.filter(({ reason }) => reason === 'rejected').map(({ audience }) => audience);
    const audiences = [...new Set(renewals)];
    const most = Math.max(0, ...audiences.map((one) => renewals.filter((audience) => audience === one).length));
    // The first audience may take the whole share, the second one half as much, and so on.
    const allowed = audiences.reduce(
      (sum, _, index) => sum + Math.max(1, Math.floor(term.rejectedShare / (index + 1))),
      0,
    );
    if (most > term.rejectedShare || renewals.length > allowed)
      violated('renewals caused by 401s are few', `${renewals.length}`);
  }

  /** The first token that arrives ends the row of deaths, unless the last request of another audience was lost. */
  function compareDeaths(before: LedgerRecord | undefined, record: LedgerRecord): void {
    const pending = new Set(before?.entries.flatMap((entry) => (entry.pending ? [entry.id] : [])));
    const isIssued = record.entries.some((entry) => !entry.pending && pending.has(entry.id));
    hasIssued = isIssued;
    // A token shows that the endpoint is available again.
    if (isIssued && waits.status === 503) waits = { ...waits, until: 0 };
    const issued = new Set(record.entries.flatMap((entry) => (entry.pending ? [] : [entry.id])));
    // One write may have the outcomes of several requests.
    const mayGoOn = [before, record].some((known) => {
      const lastOfEach = new Map(known?.entries.map((entry) => [entry.audience, entry]));
      return [...lastOfEach.values()].some((entry) => entry.pending && !issued.has(entry.id));
    });
    if (isIssued && !mayGoOn && record.deaths.count > 0)
      violated('a token ends the row of deaths', `${record.deaths.count}`);
  }

  function noteBackoffs(record: LedgerRecord): void {
    const { failures, rateLimit } = record;
    const until = {
      rateLimit: rateLimit?.retryAt ?? 0,
      failures: failures?.probeAt ?? failures?.retryAt ?? 0,
      'requests without a probe': failures?.retryAt ?? 0,
    };
    for (const [name, retryAt] of Object.entries(until) as [keyof typeof until, number][]) {
      const audience = name === 'rateLimit' || failures?.shared ? undefined : failures?.audience;
      const { retryAt: before, audience: known } = backoffs[name];
      if (retryAt !== before || audience !== known) backoffs[name] = { retryAt, since: world.now, audience };
    }
  }

  /** True if a process has reserved tokens for this audience, and for no other one. */
  function requestsOnly(machine: string, audience: string): boolean {
    const requests = requestsOf(machine);
    return requests.length > 0 && requests.every((entry) => entry.audience === audience);
  }

  /**
   * Returns whether this process requests tokens only for audiences whose request before was not lost. A request whose lease has ended is sent no more.
   * The outcome of a request after `countedUntil` is open.
   */
  function hasLostNothing(machine: string, countedUntil: number): boolean {
    const now = ledgerNow();
    const leased = new Set(known?.audiences.flatMap(({ lease }) => (lease && lease.until > now ? [lease.id] : [])));
    const requests = requestsOf(machine).filter(({ id }) => leased.has(id));
    const before = (audience: string) =>
      known?.entries.findLast((entry) => entry.audience === audience && (!entry.pending || entry.at <= countedUntil));
    return (
      requests.length > 0 &&
      requests.every(({ audience }) => {
        const { pending = false, at = 0 } = before(audience) ?? {};
        return !pending || at <= countedUntil - 2 * day;
      })
    );
  }

  function requestsOf(machine: string): LedgerRecord['entries'] {
    const ids = new Set(known?.audiences.map(({ lease }) => lease?.id));
    return known?.entries.filter(({ id, instance }) => instance === machine && ids.has(id)) ?? [];
  }

  /** A process took an order to try again. The next order may be written before its request leaves, or together with that, so the record does not name it then. */
  function noteTakenOrder(before: LedgerRecord | undefined, record: LedgerRecord): void {
    const taken = record.entries.find(({ id }) => id === record.retry?.id && id !== before?.retry?.id);
    if (taken) takenAt.set(taken.instance, world.now);
    const wasOpen = before?.retry && before.retry.id === undefined && isRetryOpen(before, ledgerNow());
    if (!wasOpen || !record.retry || record.retry.id !== undefined) return;
    if (record.retry.openUntil === before.retry?.openUntil) return;
    const known = new Set(before.entries.map(({ id }) => id));
    for (const { id, instance } of record.entries) if (!known.has(id)) takenAt.set(instance, world.now);
  }

  const standsStill = (['freeze', 'freeze_at_call', 'freeze_at_send'] as const).some((fault) => settings.rates[fault]);

  return {
    applied(side) {
      const kept = store().kept(side);
      const record = kept && decoded(kept.record);
      if (kept?.record.includes('canary_')) violated('no text of an answer is stored', 'canary_phrase');
      if (typeof record === 'string') return violated('the record can be read', record);
      const before = known;
      if (before) leases?.ended(before, ledgerNow());
      known = record;
      if (record) leases?.began(record, ledgerNow());
      if (record && before && record.highWaterAt < before.highWaterAt) store().noticed();
      applications += 1;
      // Where agreements differ, these limits are not those of a process.
      const difference = isUniform && record && applications % 10 === 0 && usageDiffers(record, ledgerNow(), limits);
      if (difference) violated('what is said to be available can be had', difference);
      if (!record || !isComparable) return;
      for (const term of isUniform ? terms : []) comparePurposes(before, record, term);
      compareDeaths(before, record);
      noteBackoffs(record);
      noteTakenOrder(before, record);
      compare();
      compareCosts(record);
    },
    issued: compare,
    mayHaveIssued(tokens) {
      mayBeIssued.push({ at: world.now, tokens });
    },
    toldToWait(machine, forMs, status) {
      // A process that stands still reads the answer at a moment that the judge does not know.
      if (forMs > 0 && !standsStill) told.set(machine, { at: world.now, until: world.now + forMs, status });
    },
    wrote(machine, calledAt) {
      const order = told.get(machine);
      // The first that a process writes after the answer has the outcome, unless it has that of another request.
      if (!order || calledAt < order.at || hasIssued) return;
      told.delete(machine);
      if (order.until > waits.until) waits = { ...order, from: world.now };
    },
    probeAnswered(machine) {
      probedAt.set(machine, world.now);
    },
    get spares() {
      return known !== undefined && sparingMs(known, ledgerNow(), limits) > 0;
    },
    get mayPaceDeaths() {
      if (!known || !leases) return false;
      leases.ended(known, ledgerNow());
      return leases.lapsed >= 3;
    },
    sending(machine, isProbe) {
      if (!isComparable || !known) return;
      // Somebody ordered a retry, and this process sends the one request that ignores the holds.
      const retried = known.entries.find(({ id }) => id === known?.retry?.id);
      if (retried?.instance === machine) return;
      if (world.now - (takenAt.get(machine) ?? Number.NEGATIVE_INFINITY) < sentWithinMs) return;
      // The clock of the store decides when it is over, and may be set forward.
      const isOver = world.now > waits.until - clockToleranceMs;
      if (settings.storeAheadMs === 0 && !isOver && world.now - waits.from > sentWithinMs)
        violated('Retry-After is followed', `${machine} ${waits.until - world.now} ms too early`);
      const now = ledgerNow();
      const { retryAt, countedUntil } = withDeaths(known, now, limits).deaths;
      // An audience that has lost no request goes on after a token of any other.
      const goesOn = known.entries.some((entry) => !entry.pending) && hasLostNothing(machine, countedUntil);
      if (isUniform && retryAt > now && now - countedUntil > sentWithinMs && !goesOn)
        violated('the fleet backs off together', `deaths ${now - countedUntil} ms ago`);
      const isProbed = world.now - (probedAt.get(machine) ?? Number.NEGATIVE_INFINITY) < sentWithinMs;
      for (const [name, { retryAt, since, audience }] of Object.entries(backoffs)) {
        if (audience !== undefined && !requestsOnly(machine, audience)) continue;
        // Nobody probes an endpoint that issued a token to a probe: the first request after that comes when a probe would.
        if (name === 'requests without a probe' && (isProbe || isProbed || settings.isOpen)) continue;
        const activeForMs = world.now - since;
        if (retryAt > ledgerNow() && activeForMs > sentWithinMs)
          violated('the fleet backs off together', `${name} ${activeForMs} ms ago`);
      }
    },
  };
}
