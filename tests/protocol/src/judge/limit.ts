import { sentWithinMs, type WatchedTerm } from './agreements.ts';
import type { Promised } from './promised.ts';
import type { Calendar, IssuedToken, Term } from './scene.ts';
import { hour, minute } from './units.ts';

/** A record knows for so long what was issued. */
const knownForMs = 8 * 24 * hour - 2 * hour;

/** No window of any length, and no calendar window, sees more tokens than the agreements allow that bind those who asked. */
export const theLimitIsKept: Promised = ({ world, settings, service, calendars, facts: { agreements } }, violated) => {
  const labels = new Map<IssuedToken, Map<string, string>>();

  function labelOf(token: IssuedToken, calendar: Calendar, { windowMs }: Term): string {
    const known = labels.get(token) ?? new Map<string, string>();
    labels.set(token, known);
    const name = `${calendar.name} ${windowMs}`;
    const label = known.get(name) ?? calendar.labelOf(token.issuedAt, windowMs);
    known.set(name, label);
    return label;
  }

  /** The request that came last found all others in the record, so it had to be refused if the term bound its process. */
  function judge(term: WatchedTerm, within: readonly IssuedToken[], window: string): void {
    if (within.length <= term.bound) return;
    const lastAt = Math.max(...within.map(({ requestedAt }) => requestedAt));
    const last = within.filter(({ requestedAt }) => requestedAt > lastAt - sentWithinMs);
    if (!last.every((token) => agreements.binds(term, token))) return;
    // The record must keep the term only if the tokens that it forgot are not more than the term allows.
    const forgotten = within.filter(({ issuedAt }) => issuedAt < term.since - knownForMs).length;
    if (forgotten > term.tokens - reserveOf(term)) return;
    violated(`${within.length} tokens within ${window}, ${term.bound} allowed: ${term.name}`);
  }

  function reserveOf(term: Term): number {
    const isOfIt = ({ tokens, windowMs }: Term) => tokens === term.tokens && windowMs === term.windowMs;
    const agreed = settings.phases.flatMap((phase) => phase.agreements);
    return agreed.find(({ windows }) => windows.some(isOfIt))?.reserve ?? 0;
  }

  return {
    issued(newest) {
      const { issued } = service();
      for (const term of agreements.terms()) {
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
};

/** Where the provider counts requests, no window sees more of them than the agreement allows, probes and refused ones among them. All processes have one agreement. */
export const refusedRequestsAreInTheLimit: Promised = ({ world, calendars, facts: { agreements } }, violated) => {
  const arrivedAt: number[] = [];
  return {
    arrived() {
      arrivedAt.push(world.now);
      for (const { name, bound, windowMs, counts } of agreements.terms()) {
        if (counts !== 'requests') continue;
        const rolling = arrivedAt.filter((at) => at > world.now - windowMs);
        const recent = arrivedAt.filter((at) => at > world.now - 1.1 * windowMs - 2 * hour);
        const inCalendars = calendars.map(({ labelOf }) => {
          return recent.filter((at) => labelOf(at, windowMs) === labelOf(world.now, windowMs)).length;
        });
        const most = Math.max(rolling.length, ...inCalendars);
        if (most > bound) violated(`${most} requests within a window, ${bound} allowed: ${name}`);
      }
    },
  };
};
