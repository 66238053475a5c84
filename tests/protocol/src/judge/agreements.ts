import { usableOf, usual } from './numbers.ts';
import type { Agreement, Circumstances, IssuedToken, Process, Term, Time } from './scene.ts';
import type { Sights } from './sights.ts';
import { hour, minute, second } from './units.ts';

/** A term that some process stated. */
export interface WatchedTerm extends Term {
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

/** The agreements that processes state, and whom they bind. */
export interface Agreements {
  readonly sights: Partial<Sights>;
  terms(): Iterable<WatchedTerm>;
  /** True if a process had to keep to a term when it made this request. */
  binds(term: WatchedTerm, token: IssuedToken): boolean;
  /** True if a process may have been refused in the name of a term: its own one, one that others declared within an hour, or one that it inherits. */
  mayRefuse(term: Term, machine: string): boolean;
}

/** From a reservation to the request that follows it. */
export const sentWithinMs: number = 15 * second;
/** Terms bind other processes for an hour after they were declared. A clock of the store may be wrong by ten minutes. */
const boundForMs = 48 * minute;
/** A process that reads the record declares its terms again after 20 minutes, so they bind for 40 minutes or more. */
const boundByReadForMs = 29 * minute;
/** A process may be told so late what was true when it read the record. */
const toldWithinMs = 30 * minute;

export function createAgreements(world: Time, settings: Circumstances): Agreements {
  const terms = new Map<string, WatchedTerm>();
  const started = new Map<string, { readonly machine: Process; readonly own: readonly WatchedTerm[] }>();
  const readAt = new Map<string, number>();
  const usualName = nameOf(usual);
  const ownOf = (machine: string) => started.get(machine)?.own ?? [];
  if (settings.phases.some(({ inheriting }) => inheriting))
    create(usual, usableOf(usual.tokens, undefined, settings.durability));

  function create(term: Term, bound: number): WatchedTerm {
    const name = nameOf(term);
    const created = { ...term, name, bound, since: world.now, binds: [], declaredAt: Number.NEGATIVE_INFINITY };
    terms.set(name, created);
    return created;
  }

  /** Only of a single window it is known without arithmetic what is usable. */
  function watched(term: Term, { windows }: Agreement): WatchedTerm {
    const bound = windows.length === 1 && term.tokens === settings.tokens ? settings.bound : term.tokens;
    return terms.get(nameOf(term)) ?? create(term, bound);
  }

  /** A process that inherits the agreement keeps what was declared last, however long ago. It keeps to the default as long as nobody declared anything. */
  function isInherited(term: WatchedTerm, requestedAt: number): boolean {
    const declaredAt = Math.max(...[...terms.values()].map((known) => known.declaredAt));
    if (term.name === usualName) return declaredAt === Number.NEGATIVE_INFINITY;
    const last = term.binds.findLast(({ from }) => from < requestedAt - sentWithinMs);
    return last !== undefined && last.until > declaredAt;
  }

  function bind(term: WatchedTerm, from: number, until: number): void {
    const last = term.binds.at(-1);
    if (last && from <= last.until) last.until = Math.max(last.until, until);
    else term.binds.push({ from, until });
  }

  return {
    terms: () => terms.values(),
    binds(term, { machine, requestedAt }) {
      const own = ownOf(machine);
      if (own.includes(term)) return true;
      if (term.binds.some(({ from, until }) => from < requestedAt - sentWithinMs && requestedAt < until)) return true;
      return own.length === 0 && isInherited(term, requestedAt);
    },
    mayRefuse(refusing, machine) {
      const term = terms.get(nameOf(refusing));
      const own = ownOf(machine);
      if (!term || own.includes(term)) return term !== undefined;
      if (own.length > 0) return world.now < term.declaredAt + hour + toldWithinMs;
      // The default is for a record without terms.
      const isStated = ({ binds }: WatchedTerm) => binds.some(({ from }) => from < world.now - toldWithinMs);
      return term.name !== usualName || ![...terms.values()].some(isStated);
    },
    sights: {
      began(machine, agreement) {
        const own = agreement?.windows.map((term) => watched(term, agreement)) ?? [];
        const running = [...started.values()].filter((other) => other.machine.alive).flatMap((other) => other.own);
        for (const term of own) if (!running.includes(term)) term.since = world.now;
        started.set(machine.name, { machine, own });
      },
      looked(machine) {
        readAt.set(machine, world.now);
        if (!settings.declares) return;
        for (const term of ownOf(machine)) bind(term, world.now + minute, world.now + boundByReadForMs);
      },
      wrote(machine, calledAt) {
        for (const term of ownOf(machine)) term.declaredAt = world.now;
        // The process made this record from one that it read shortly before.
        const isRecent = calledAt - (readAt.get(machine) ?? 0) < minute && world.now - calledAt < minute;
        if (!isRecent || settings.lossesPerWindow > 0) return;
        for (const term of ownOf(machine)) bind(term, world.now, calledAt + boundForMs);
      },
    },
  };
}

function nameOf({ tokens, windowMs }: Term): string {
  return `${tokens} in ${windowMs / minute} min`;
}
