import { inspect } from 'node:util';
import type { AccessToken } from '@service-auth/core';
import { createLedgerWatch } from './ledger-watch.ts';
import { createLimitWatch, type LimitWatch } from './limit-watch.ts';
import type { Random } from './random.ts';
import type { Service, ServiceToken } from './service.ts';
import type { Settings } from './settings.ts';
import type { Side, SimulatedStore } from './simulated-store.ts';
import type { World } from './world.ts';

/** Watches a run from outside and says what was promised and not kept. */
export interface Judge extends Pick<LimitWatch, 'began' | 'denied' | 'looked'> {
  readonly violations: readonly string[];
  violated(promise: string, detail: string): void;
  /** The service issued a token. */
  issued(): void;
  /** The record was replaced. */
  applied(side: Side): void;
  /** A process sends a token request just now. */
  /** A token request left that may issue so many tokens; a negative number: they were surely not issued. */
  mayHaveIssued(tokens: number): void;
  sending(machine: string, isProbe: boolean): void;
  /** A process is told to wait for so long. */
  toldToWait(machine: string, forMs: number, status: number): void;
  /** The record was replaced by a call that a process made at `calledAt`. */
  wrote(machine: string, calledAt: number): void;
  outgrew(machine: string, bytes: number): void;
  /** The store did not keep what a process wrote. */
  discarded(machine: string): void;
  /** The endpoint answers the probe of a process. */
  probeAnswered(machine: string): void;
  /** A quarter of the budget is of unknown outcome: the rest is spared. */
  readonly spares: boolean;
  /** Three processes stood still for so long that they count as dead: the fleet may back off. */
  readonly mayPaceDeaths: boolean;
  /** A process was given this token just now. */
  handedOut(token: AccessToken): ServiceToken | undefined;
  /** True if any process was handed this token. */
  wasHandedOut(value: string): boolean;
  /** The sum of the steps of the store's clock, in both directions: no expiry is more exact. */
  clockSpreadMs(): number;
  /** Something that a program prints, logs or sends elsewhere. */
  published(what: unknown): void;
}

/** Creates the judge of one run. */
export function createJudge(
  world: World,
  settings: Settings,
  service: () => Service,
  store: () => SimulatedStore,
  blockedMsOf: (machine: string) => number,
  random: Random,
): Judge {
  const { rates } = settings;
  const clockIsWild = (rates.store_clock_wild ?? 0) + (rates.store_clock_set_back ?? 0) > 0;
  const violations: string[] = [];
  const had = new Set<string>();
  const named = new Map<string, string>();
  const discardedAt = new Map<string, readonly number[]>();
  let published = 0;

  function violated(promise: string, detail: string): void {
    violations.push(`${promise}: ${detail}`);
    world.note(`VIOLATION ${promise}: ${detail}`);
  }

  const watch = createLedgerWatch(world, settings, service, store, violated, blockedMsOf);

  const limit = createLimitWatch(world, settings, random, service, violated);

  return {
    violations,
    violated,
    began: limit.began,
    denied: limit.denied,
    looked: limit.looked,
    outgrew(machine, bytes) {
      violated('no record outgrows its store', `${machine} wrote ${bytes} bytes`);
    },
    discarded(machine) {
      // Calls, and outcomes that are not written yet, try again now and then.
      const recent = (discardedAt.get(machine) ?? []).filter((at) => at > world.now - 180_000);
      discardedAt.set(machine, [...recent, world.now]);
      if (recent.length >= 60) violated('a store that keeps nothing is given up', machine);
    },
    wrote(machine, calledAt) {
      limit.wrote(machine, calledAt);
      watch.wrote(machine, calledAt);
    },
    toldToWait: watch.toldToWait,
    clockSpreadMs: () => store().clockSpreadMs,
    sending: watch.sending,
    mayHaveIssued: watch.mayHaveIssued,
    probeAnswered: watch.probeAnswered,
    get spares() {
      return watch.spares;
    },
    get mayPaceDeaths() {
      return watch.mayPaceDeaths;
    },
    applied: watch.applied,
    issued() {
      limit.issued();
      watch.issued();
    },
    wasHandedOut: (value) => had.has(value),
    handedOut(token) {
      had.add(token.value);
      if (token.value !== (named.get(token.id) ?? token.value)) violated('an id names one token', token.id);
      named.set(token.id, token.value);
      const known = service().token(token.value);
      if (!known) {
        violated('every token is one of the service', token.id);
        return undefined;
      }
      const leftMs = known.expiresAt - world.now;
      // Sleep of less than a minute is not noticed, and an expiry is as exact as the store's clock.
      const marginMs = rates.sleep ? 0 : Math.min(60_000, known.statedMs / 10);
      const inexactMs = store().unnoticedMs + Math.min(60_000, store().clockSpreadMs);
      if (!clockIsWild && leftMs + inexactMs < marginMs) {
        violated('every served token has life left', `${known.value} with ${leftMs} ms of ${known.lifetimeMs}`);
      }
      return known;
    },
    published(what) {
      published += 1;
      const texts = [String(what), JSON.stringify(what)];
      if (what instanceof Error) texts.push(what.message, String(what.stack), JSON.stringify(what.cause) ?? '');
      // This inspection is deep and slow.
      if (published % 20 === 1) texts.push(inspect(what, { depth: 9, showHidden: true }));
      if (texts.some((text) => /canary/i.test(text ?? '')))
        violated('nothing published contains a secret', `${texts[0]}`);
    },
  };
}
