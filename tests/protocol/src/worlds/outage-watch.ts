import { countsForMs, sharesOf } from '../judge/numbers.ts';
import { minute } from '../judge/units.ts';
import type { Machine } from '../machine.ts';
import type { Service } from '../service.ts';
import type { World } from '../world.ts';
import type { Figures } from './outage-world.ts';
import { mayIssue, type OutageWorld } from './outage-world.ts';

/** Measures a world from outside: what arrives at the endpoint, and what callers get. */
export interface OutageWatch {
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
  /**
   * `waitMinutes`: the longest that a caller waited for a token although requests for its audience work, since its last request failed, and not while
   * the limit refused it. `exceeding`: the tokens with which a window saw more than were agreed. The others: see the document.
   */
  figures(): Figures;
}

/** The longest that a caller waits, if it comes when it is told to. */
export function waitPromisedMinutes(world: OutageWorld): number {
  const leastUsable = Math.min(...world.windows.map((window) => mayIssue(world, window)));
  return world.isYoung || leastUsable < 120 ? 360 : 80;
}

/** Creates the watch of one run. The world begins at `startsAt`. */
export function createOutageWatch(time: World, world: OutageWorld, startsAt: number, service: Service): OutageWatch {
  const { windows } = world;
  const countedFrom = new Map<number, number>();
  const waiting = new Map<object, { readonly machine: Machine; readonly audience: number; readonly since: number }>();
  const lockedSince = new Map<object, number>();
  const lostAt: number[] = [];
  let before = 0;
  let [unknownShare, waitMs, lockedOutMs, requests, exceeding] = [0, 0, 0, 0, 0];

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
      const unknown = lostAt.filter((at) => at > time.now - countsForMs(window.windowMs, true)).length;
      unknownShare = Math.max(unknownShare, unknown / mayIssue(world, window));
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
    waitMs = Math.max(waitMs, time.now - Math.max(since, countedFrom.get(audience) ?? 0));
  }

  function isBudgetLeft(): boolean {
    // The rest is kept for resets.
    return windows.every(
      (window) => service.issuedSince(time.now - window.windowMs) < sharesOf(mayIssue(world, window)).cold,
    );
  }

  return {
    issued() {
      const isExceeded = windows.some(({ tokens, windowMs }) => service.issuedSince(time.now - windowMs) > tokens);
      if (isExceeded) exceeding += 1;
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
      unknownPercent: Math.ceil(unknownShare * 1_000) / 10,
      waitMinutes: Math.ceil(waitMs / minute),
      lockedOutMinutes: Math.ceil(lockedOutMs / minute),
      issued: service.issued.length - before,
      requests,
      exceeding,
    }),
  };
}
