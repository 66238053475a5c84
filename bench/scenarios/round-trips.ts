import { setImmediate } from 'node:timers/promises';
import { createServiceAuth, memoryStore, type ServiceAuth, type Store } from '@service-auth/core';
import { createTestClock, type TestClock } from '@service-auth/testing';

/** The requests to the store and to the token endpoint. */
export interface Trips {
  loads: number;
  swaps: number;
  tokenRequests: number;
}

/** A fleet whose every round trip is counted, in a time that stands still. */
interface Fleet {
  readonly clock: TestClock;
  /** Since it was asked last. */
  trips(): Trips;
  start(): ServiceAuth;
}

const lifetimeMs = 86_400_000;
const second = 1_000;

function createFleet(answerMs = 0): Fleet {
  const clock = createTestClock();
  const kept = memoryStore({ clock });
  let trips: Trips = { loads: 0, swaps: 0, tokenRequests: 0 };
  const store: Store = {
    durability: 'durable',
    load(...call) {
      trips.loads += 1;
      return kept.load(...call);
    },
    swap(...call) {
      trips.swaps += 1;
      return kept.swap(...call);
    },
  };
  let issued = 0;
  const start = () =>
    createServiceAuth({
      authUrl: 'https://auth.example.com',
      audience: 'api',
      clientId: 'client',
      clientSecret: 'secret',
      store,
      clock,
      async transport() {
        trips.tokenRequests += 1;
        issued += 1;
        const body = JSON.stringify({
          access_token: `token-${issued}`,
          token_type: 'Bearer',
          expires_in: lifetimeMs / second,
        });
        if (answerMs > 0) await new Promise<void>((resolve) => clock.setTimer(resolve, answerMs));
        return { status: 200, headers: { 'content-type': 'application/json' }, body };
      },
    });
  return {
    clock,
    start,
    trips() {
      const counted = trips;
      trips = { loads: 0, swaps: 0, tokenRequests: 0 };
      return counted;
    },
  };
}

/** The behaviours of a program. What the last call of `trips()` has told does not count. */
const behaviours: Readonly<Record<string, (fleet: Fleet) => Promise<unknown>>> = {
  'the first process of a fleet gets a token': ({ start }) => start().getToken(),
  async 'another process adopts it'({ start, trips }) {
    await start().getToken();
    trips();
    await start().getToken();
  },
  '10,000 callers without a token'({ start }) {
    const auth = start();
    return Promise.all(Array.from({ length: 10_000 }, () => auth.getToken()));
  },
  async 'an hour of use, a call every second'({ clock, start, trips }) {
    const auth = start();
    await auth.getToken();
    trips();
    for (let passed = 0; passed < 3_600; passed += 1) {
      await clock.advance(second);
      await auth.getToken();
    }
  },
  async 'an early renewal that delays no caller'({ clock, start, trips }) {
    const auth = start();
    await auth.getToken();
    await clock.advance(lifetimeMs * 0.75);
    const old = await auth.getToken();
    trips();
    // The renewal has been due for a while. The first call after a pause also reads whether the fleet has a newer token.
    await clock.advance(lifetimeMs * 0.2);
    if ((await auth.getToken()) !== old) throw new Error('A caller waited for the renewal.');
    while (auth.peekToken() === old) await setImmediate();
  },
  async 'the API answers 401, 1,000 times'({ clock, start, trips }) {
    const auth = start();
    const token = await auth.getToken();
    trips();
    for (let answer = 0; answer < 1_000; answer += 1) {
      await auth.invalidate(token);
      await auth.getToken();
    }
    await clock.advance(0);
  },
};

/** The effect of each behaviour. */
export const scenarios: Readonly<Record<string, () => Promise<Trips>>> = Object.fromEntries(
  Object.entries(behaviours).map(([name, behave]) => [
    name,
    async () => {
      const fleet = createFleet();
      await behave(fleet);
      return fleet.trips();
    },
  ]),
);

/** The number of reads by processes that wait for another one's token while the token endpoint takes this long. */
export async function waitingProcesses(count: number, answerMs: number): Promise<Trips & { readonly served: number }> {
  const { clock, start, trips } = createFleet(answerMs);
  let served = 0;
  const tokens = Array.from({ length: count }, async () => {
    await start().getToken();
    served += 1;
  });
  await clock.advance(answerMs);
  const waited = trips();
  while (served < count) await clock.advance(second);
  await Promise.all(tokens);
  const afterwards = trips();
  return {
    loads: waited.loads,
    swaps: waited.swaps + afterwards.swaps,
    tokenRequests: waited.tokenRequests + afterwards.tokenRequests,
    served,
  };
}
