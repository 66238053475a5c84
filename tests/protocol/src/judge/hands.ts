import type { Resets } from './resets.ts';
import type { IssuedToken, KeptStore, Time } from './scene.ts';
import type { Asker, Call, FleetReset, Sights } from './sights.ts';
import { minute } from './units.ts';

/** The tokens that one client of a process had. */
interface Hand {
  /** The token that it has to have. */
  good: IssuedToken | undefined;
  latest: IssuedToken | undefined;
  readonly handedOut: Set<string>;
  /** Those that its process reset. */
  readonly dropped: Set<string>;
  readonly rejected: Set<string>;
  /** Its process reset what was issued before. */
  resetUpTo: number;
  isStoreFailing: boolean;
  calledAt: number;
  mayBeWrongUntil: number;
}

/** Who has which token. */
export interface Hands {
  readonly sights: Partial<Sights>;
  of(asker: Asker): Hand;
  /** The good token that a process had at the beginning of a call and still has to have. */
  goodSince(call: Call): IssuedToken | undefined;
  /** The hot path reads the wall clock alone: set back into the seconds that it had trusted, they begin again. */
  mayBeWrong(call: Call): boolean;
}

const trustedMs = 25_000;

export function createHands(world: Time, store: () => KeptStore, resets: Resets): Hands {
  const hands = new Map<Asker, Hand>();
  const goodAt = new Map<Call, IssuedToken>();
  const meant = new Map<FleetReset, { readonly all: readonly string[]; readonly latest: IssuedToken | undefined }>();

  function of(asker: Asker): Hand {
    const known = hands.get(asker);
    if (known) return known;
    const hand = {
      good: undefined,
      latest: undefined,
      handedOut: new Set<string>(),
      dropped: new Set<string>(),
      rejected: new Set<string>(),
      resetUpTo: Number.NEGATIVE_INFINITY,
      isStoreFailing: false,
      calledAt: Number.NEGATIVE_INFINITY,
      mayBeWrongUntil: Number.NEGATIVE_INFINITY,
    };
    hands.set(asker, hand);
    return hand;
  }

  function isGood(asker: Asker, token: IssuedToken): boolean {
    const { machine } = asker;
    const { dropped, rejected } = of(asker);
    const marginMs = Math.min(minute, token.lifetimeMs / 10);
    // Life counts from before the request was sent; ten seconds for what may lie between the reservation and that.
    const goodUntil = token.requestedAt + token.lifetimeMs - 2 * marginMs - 10_000 - store().clockSpreadMs;
    const hasEnded = dropped.has(token.value) || rejected.has(token.value) || token.revoked;
    // A wall clock that was set forward cannot be told from sleep, so the token must be revalidated.
    if (token.requestedAt <= machine.wallSetAt.forward) return false;
    // A process that measured its age since may overestimate it, but never underestimate it.
    if (token.requestedAt <= store().setBackAt) return false;
    return !hasEnded && token.issuedAt >= store().lostAt && !resets.mayHaveEnded(token) && world.now < goodUntil;
  }

  return {
    of,
    goodSince(call) {
      const token = goodAt.get(call);
      return token && isGood(call.asker, token) ? token : undefined;
    },
    mayBeWrong: ({ asker, peeked }) => peeked !== undefined && world.now < of(asker).mayBeWrongUntil,
    sights: {
      asked(call) {
        const { asker } = call;
        const hand = of(asker);
        if (asker.machine.wallSetAt.back > hand.calledAt) hand.mayBeWrongUntil = world.now + trustedMs;
        hand.calledAt = world.now;
        if (hand.good && isGood(asker, hand.good)) goodAt.set(call, hand.good);
      },
      happened(asker, event) {
        const hand = of(asker);
        // Further failures are not told for a minute.
        if (event.type === 'store_failed') hand.isStoreFailing = true;
        if (event.type === 'store_recovered') hand.isStoreFailing = false;
        if (event.type !== 'token_issued' && event.type !== 'token_adopted') return;
        // A process keeps its newest token, even one that ends earlier because the provider shortened the lives.
        const endsAt = world.now + event.expiresAt - asker.machine.clock.now();
        if (hand.good && endsAt < hand.good.expiresAt) hand.good = undefined;
      },
      served({ asker }, _token, known) {
        if (known) Object.assign(of(asker), { good: known, latest: known }).handedOut.add(known.value);
      },
      rejected(asker, token) {
        const hand = of(asker);
        hand.rejected.add(token.value);
        hand.good = undefined;
      },
      resetting(reset) {
        const hand = of(reset.asker);
        hand.good = undefined;
        meant.set(reset, { all: [...hand.handedOut], latest: hand.latest });
      },
      wasReset(reset) {
        const hand = of(reset.asker);
        hand.resetUpTo = Math.max(hand.resetUpTo, resets.endsBefore(reset));
        for (const value of meant.get(reset)?.all ?? []) hand.dropped.add(value);
      },
      resetFailed(reset) {
        const { latest } = meant.get(reset) ?? {};
        if (latest) of(reset.asker).dropped.add(latest.value);
      },
    },
  };
}
