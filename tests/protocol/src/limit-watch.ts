import { type Calendar, createCalendars } from './calendars.ts';
import type { Machine } from './machine.ts';
import type { Random } from './random.ts';
import type { Service, ServiceToken } from './service.ts';
import { type Agreement, type Settings, type Term, usableOf as usableByDefault, usual } from './settings.ts';
import type { World } from './world.ts';

/** Counts the tokens of the service in the windows of every term that a process knows. It uses nothing of core. */
export interface LimitWatch {
  /** A process begins, with this agreement. Undefined: it inherits the agreement of the others. */
  began(machine: Machine, agreement: Agreement | undefined): void;
  /** A caller of a process was refused, because this term had no room. */
  denied(machine: string, term: Term): void;
  /** A process was given the record just now. */
  looked(machine: string): void;
  /** The record was replaced by a call that a process made at `calledAt`. */
  wrote(machine: string, calledAt: number): void;
  /** The service issued a token. */
  issued(): void;
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** From a reservation to the request that follows it. */
const sentWithinMs = 15 * second;
/** Terms bind other processes for an hour after they were declared. A clock of the store may be wrong by ten minutes. */
const boundForMs = 48 * minute;
/** A process that reads the record declares its terms again after 20 minutes, so they bind for 40 minutes or more. */
const boundByReadForMs = 29 * minute;
/** A process may be told so late what was true when it read the record. */
const toldWithinMs = 30 * minute;
/** A record knows for so long what was issued. */
const knownForMs = 8 * day - 2 * hour;

interface WatchedTerm extends Term {
  readonly name: string;
  /** The most tokens that a window may see. */
  readonly bound: number;
  /** When a process with this term began, after a time in which none had it. */
  since: number;
  /** Times from when to when it binds the processes that have other terms. */
  readonly binds: { from: number; until: number }[];
  /** The last write of a process that states it. */
  declaredAt: number;
}

/** Creates the watch of one run. */
export function createLimitWatch(
  world: World,
  settings: Settings,
  random: Random,
  service: () => Service,
  violated: (promise: string, detail: string) => void,
): LimitWatch {
  const terms = new Map<string, WatchedTerm>();
  const started = new Map<string, { readonly machine: Machine; readonly own: readonly WatchedTerm[] }>();
  const readAt = new Map<string, number>();
  const calendars: readonly Calendar[] = createCalendars(random, settings.faultsForMs);
  const labels = new Map<ServiceToken, ReadonlyMap<string, string>>();
  const usualName = nameOf(usual);
  if (settings.phases.some(({ inheriting }) => inheriting))
    create(usual, usableByDefault(usual.tokens, undefined, settings.durability));

  /** Only of a single window it is known without arithmetic what is usable. */
  function boundOf(term: Term, { windows }: Agreement): number {
    return windows.length === 1 && term.tokens === settings.tokens ? settings.bound : term.tokens;
  }

  function watched(term: Term, agreement: Agreement): WatchedTerm {
    return terms.get(nameOf(term)) ?? create(term, boundOf(term, agreement));
  }

  function create(term: Term, bound: number): WatchedTerm {
    const name = nameOf(term);
    const created = { ...term, name, bound, since: world.now, binds: [], declaredAt: Number.NEGATIVE_INFINITY };
    terms.set(name, created);
    return created;
  }

  /** True if a process had to keep to a term when it made this request. */
  function binds(term: WatchedTerm, { machine, requestedAt }: ServiceToken): boolean {
    const own = started.get(machine)?.own ?? [];
    if (own.includes(term)) return true;
    if (term.binds.some(({ from, until }) => from < requestedAt - sentWithinMs && requestedAt < until)) return true;
    return own.length === 0 && isInherited(term, requestedAt);
  }

  /** A process that inherits the agreement keeps what was declared last, however long ago. It keeps to the default as long as nobody declared anything. */
  function isInherited(term: WatchedTerm, requestedAt: number): boolean {
    const declaredAt = Math.max(...[...terms.values()].map((known) => known.declaredAt));
    if (term.name === usualName) return declaredAt === Number.NEGATIVE_INFINITY;
    const last = term.binds.findLast(({ from }) => from < requestedAt - sentWithinMs);
    return last !== undefined && last.until > declaredAt;
  }

  /** True if a process may have been refused in the name of a term: its own one, one that others declared within an hour, or one that it inherits. */
  function mayDeny(term: WatchedTerm | undefined, own: readonly WatchedTerm[]): boolean {
    if (!term || own.includes(term)) return term !== undefined;
    if (own.length > 0) return world.now < term.declaredAt + hour + toldWithinMs;
    // The default is for a record without terms.
    const isStated = ({ binds }: WatchedTerm) => binds.some(({ from }) => from < world.now - toldWithinMs);
    return term.name !== usualName || ![...terms.values()].some(isStated);
  }

  /** The request that came last found all others in the record, so it had to be denied if the term bound its process. */
  function judge(term: WatchedTerm, within: readonly ServiceToken[], window: string): void {
    if (within.length <= term.bound) return;
    const lastAt = Math.max(...within.map(({ requestedAt }) => requestedAt));
    const last = within.filter(({ requestedAt }) => requestedAt > lastAt - sentWithinMs);
    if (!last.every((token) => binds(term, token))) return;
    // The record must keep the term only if the tokens that it forgot are not more than the term allows.
    const forgotten = within.filter(({ issuedAt }) => issuedAt < term.since - knownForMs).length;
    if (forgotten > usableOf(term)) return;
    violated('the limit is kept', `${within.length} tokens within ${window}, ${term.bound} allowed: ${term.name}`);
  }

  function usableOf(term: WatchedTerm): number {
    const agreement = settings.phases
      .flatMap(({ agreements }) => agreements)
      .find(({ windows }) =>
        windows.some(({ tokens, windowMs }) => tokens === term.tokens && windowMs === term.windowMs),
      );
    return term.tokens - (agreement?.reserve ?? 0);
  }

  function labelOf(token: ServiceToken, calendar: Calendar, { windowMs }: Term): string {
    const known = labels.get(token) ?? new Map<string, string>();
    const name = `${calendar.name} ${windowMs}`;
    const label = known.get(name) ?? calendar.labelOf(token.issuedAt, windowMs);
    labels.set(token, new Map(known).set(name, label));
    return label;
  }

  return {
    began(machine, agreement) {
      const own = agreement?.windows.map((term) => watched(term, agreement)) ?? [];
      const running = [...started.values()].filter((other) => other.machine.alive).flatMap((other) => other.own);
      for (const term of own) if (!running.includes(term)) term.since = world.now;
      started.set(machine.name, { machine, own });
    },
    denied(machine, term) {
      const own = started.get(machine)?.own ?? [];
      if (mayDeny(terms.get(nameOf(term)), own)) return;
      violated('only an agreement of the fleet refuses a caller', `${machine} by ${nameOf(term)}`);
    },
    looked(machine) {
      readAt.set(machine, world.now);
      if (!settings.declares) return;
      for (const term of started.get(machine)?.own ?? []) bind(term, world.now + minute, world.now + boundByReadForMs);
    },
    wrote(machine, calledAt) {
      for (const term of started.get(machine)?.own ?? []) term.declaredAt = world.now;
      // The process made this record from one that it read shortly before.
      const isRecent = calledAt - (readAt.get(machine) ?? 0) < minute && world.now - calledAt < minute;
      if (!isRecent || settings.lossesPerWindow > 0) return;
      for (const term of started.get(machine)?.own ?? []) bind(term, world.now, calledAt + boundForMs);
    },
    issued() {
      const { issued } = service();
      const newest = issued.at(-1) as ServiceToken;
      for (const term of terms.values()) {
        const rolling = issued.filter(({ issuedAt }) => issuedAt > world.now - term.windowMs);
        judge(term, rolling, `${term.windowMs / minute} min`);
        // Only so many can fill a calendar window, even if a clock change makes it longer.
        const recent = issued.filter(({ issuedAt }) => issuedAt > world.now - 1.1 * term.windowMs - 2 * hour);
        for (const calendar of recent.length > term.bound ? calendars : []) {
          const label = labelOf(newest, calendar, term);
          const same = recent.filter((token) => labelOf(token, calendar, term) === label);
          judge(term, same, `${label} in ${calendar.name}`);
        }
      }
    },
  };

  function bind(term: WatchedTerm, from: number, until: number): void {
    const last = term.binds.at(-1);
    if (last && from <= last.until) last.until = Math.max(last.until, until);
    else term.binds.push({ from, until });
  }
}

function nameOf({ tokens, windowMs }: Term): string {
  return `${tokens} in ${windowMs / minute} min`;
}
