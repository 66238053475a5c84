// One of the processes that kills.test.ts starts: asks for a token. A patient one asks again until it has one.
import { type Clock, createServiceAuth, isServiceAuthError, type Store } from '@service-auth/core';
import { fileStore } from '../src/index.ts';

const [directory = '', authUrl = '', epoch = '', speed = '', patience = ''] = process.argv.slice(2);

/** The store's time runs as fast as the clock of the process. */
function fast(at: number): number {
  return Number(epoch) + (at - Number(epoch)) * Number(speed);
}

const clock: Clock = {
  now: () => fast(Date.now()),
  monotonic: () => performance.now() * Number(speed),
  setTimer(callback, delayMs) {
    const timer = setTimeout(callback, delayMs / Number(speed));
    return () => clearTimeout(timer);
  },
};
const slow = fileStore(directory);
const store: Store = {
  durability: slow.durability,
  async load(key, options) {
    const snapshot = await slow.load(key, options);
    return { ...snapshot, now: fast(snapshot.now) };
  },
  async swap(key, change, options) {
    const { swapped, now } = await slow.swap(key, change, options);
    return { swapped, now: fast(now) };
  },
};
const auth = createServiceAuth({ authUrl, audience: 'api', clientId: 'client', clientSecret: 'secret', store, clock });

async function ask(): Promise<void> {
  try {
    process.send?.({ token: (await auth.getToken()).value });
  } catch (error) {
    if (!isServiceAuthError(error)) throw error;
    if (patience !== 'patient') return;
    const retryInMs = Math.max(1_000, (error.retryAt ?? 0) - clock.now());
    await new Promise<void>((resolve) => clock.setTimer(resolve, retryInMs));
    await ask();
  }
}

await ask();
await auth.close();
process.disconnect?.();
