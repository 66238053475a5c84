import { hour, minute } from '../judge/units.ts';
import type { Machine } from '../machine.ts';
import type { Service } from '../service.ts';
import type { World } from '../world.ts';
import { mayIssue, type OutageWorld } from './outage-world.ts';

/** What a world came to. */
export interface Figures {
  /** The largest part of what may be issued that was of unknown outcome at one time. */
  readonly unknownShare: number;
  /** The longest that a caller waited for a token although requests for its audience work: since its last request failed, and not while the limit refused it. */
  readonly waitMs: number;
  /** By how much a wait was longer than promised. */
  readonly lateMs: number;
  /** The longest that the limit refused a caller although the endpoint had issued less than it may. */
  readonly lockedOutMs: number;
  readonly issued: number;
  readonly requests: number;
  /** A window saw more tokens than were agreed. */
  readonly isExceeded: boolean;
}

/** Measures a world from outside: what arrives at the endpoint, and what callers get. */
export interface OutageWatch {
  /** The endpoint issued a token. */
  issued(): void;
  sent(): void;
  /** A request that was sent at `sentAt` has an unknown outcome. */
  lost(audience: number, sentAt: number): void;
  /** A request ended without a token. */
  failed(audience: number): void;
  /** A caller of a process asks for a token. It waits from its first call on until it is served. */
  asked(caller: object, machine: Machine, audience: number): void;
  served(caller: object): void;
  refused(caller: object, code: string): void;
  figures(): Figures;
}

/** For so long a token of unknown outcome counts: 27 hours if the window is a day. */
function countsMs(windowMs: number): number {
  return windowMs + Math.min(hour, windowMs / 24) + Math.min(2 * hour, Math.max(7 * minute, windowMs / 12));
}

/** The tokens of a window that callers may have. The rest is kept for resets. */
function forCallers(usable: number): number {
  return usable - Math.min(10, Math.floor(usable / 12));
}

/** Whole minutes, rounded up. */
export function minutesOf(ms: number): number {
  return Math.ceil(ms / minute);
}

/** Creates the watch of one run. The world begins at `startsAt`. */
export function createOutageWatch(time: World, world: OutageWorld, startsAt: number, service: Service): OutageWatch {
  const { windows, isYoung } = world;
  const leastUsable = Math.min(...windows.map((window) => mayIssue(world, window)));
  const countedFrom = new Map<number, number>();
  const waiting = new Map<object, { readonly machine: Machine; readonly audience: number; readonly since: number }>();
  const lockedSince = new Map<object, number>();
  const lostAt: number[] = [];
  let before = 0;
  let [unknownShare, waitMs, lateMs, lockedOutMs, requests] = [0, 0, 0, 0, 0];
  let isExceeded = false;

  const works = (audience: number) => world.works(audience, time.now - startsAt) >= 0.5;

  function look(): void {
    for (const [caller, { machine }] of waiting) {
      if (machine.alive) waited(caller);
      else waiting.delete(caller);
    }
    // Nobody waits for a token of an endpoint that does not work.
    for (let audience = 0; audience < world.audiences; audience++)
      if (!works(audience)) countedFrom.set(audience, time.now);
    for (const window of windows) {
      const unknown = lostAt.filter((at) => at > time.now - countsMs(window.windowMs)).length;
      const share = unknown / mayIssue(world, window);
      unknownShare = Math.max(unknownShare, share);
    }
    time.at(time.now + minute, look);
  }
  time.at(startsAt, () => {
    before = service.issued.length;
    look();
  });

  function waited(caller: object): void {
    const { audience, since } = waiting.get(caller) ?? { audience: 0, since: time.now };
    if (!works(audience)) return;
    const from = Math.max(since, countedFrom.get(audience) ?? 0);
    const ms = time.now - from;
    // A caller asks again a few seconds after the instant that it was told.
    const promisedMs = (isYoung || leastUsable < 120 ? 6 * hour : 80 * minute) + minute;
    waitMs = Math.max(waitMs, ms);
    lateMs = Math.max(lateMs, ms - promisedMs);
  }

  function isBudgetLeft(): boolean {
    return windows.every(
      (window) => service.issuedSince(time.now - window.windowMs) < forCallers(mayIssue(world, window)),
    );
  }

  return {
    issued() {
      isExceeded ||= windows.some(({ tokens, windowMs }) => service.issuedSince(time.now - windowMs) > tokens);
    },
    sent() {
      requests += 1;
    },
    lost(audience, sentAt) {
      lostAt.push(sentAt);
      countedFrom.set(audience, time.now);
    },
    failed(audience) {
      countedFrom.set(audience, time.now);
    },
    asked(caller, machine, audience) {
      if (!waiting.has(caller)) waiting.set(caller, { machine, audience, since: time.now });
    },
    served(caller) {
      waited(caller);
      lockedSince.delete(caller);
      waiting.delete(caller);
    },
    refused(caller, code) {
      waited(caller);
      const { audience = 0 } = waiting.get(caller) ?? {};
      const isLockedOut = code === 'ERR_ISSUANCE_LIMIT' && works(audience);
      if (!isLockedOut || !isBudgetLeft()) lockedSince.delete(caller);
      else {
        const from = lockedSince.get(caller) ?? time.now;
        lockedSince.set(caller, from);
        lockedOutMs = Math.max(lockedOutMs, time.now - from);
      }
      if (isLockedOut) countedFrom.set(audience, time.now);
    },
    figures: () => ({
      ...{ unknownShare, waitMs, lateMs, lockedOutMs, requests, isExceeded },
      issued: service.issued.length - before,
    }),
  };
}
