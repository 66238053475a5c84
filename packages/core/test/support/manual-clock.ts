import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../src/index.ts';

/** A {@link Clock} that stands still until the test moves it. */
export interface ManualClock extends Clock {
  /** Timers that are armed, and those of them that do not keep a process running. */
  readonly timers: { readonly all: number; readonly background: number };
  /** Lets time pass: fires what falls due, in order, and lets promises settle before the first timer and after each. */
  advance(ms: number): Promise<void>;
  /** Goes from timer to timer until `promise` settles. Rejects if nothing is left that could settle it. */
  until<Result>(promise: Promise<Result>): Promise<Result>;
  /** Sets the wall clock; no time passes. */
  step(ms: number): void;
  /** The machine sleeps: the wall clock goes on, everything else stands still. */
  suspend(ms: number): void;
}

interface Timer {
  readonly callback: () => void;
  readonly dueAt: number;
  readonly background: boolean;
}

const maxDelayMs = 3_600_000;

export function createManualClock(startedAt: number = Date.UTC(2026, 0, 1)): ManualClock {
  const timers = new Set<Timer>();
  let monotonic = 0;
  let wallAhead = 0;

  function next(until: number): Timer | undefined {
    return [...timers].filter(({ dueAt }) => dueAt <= until).sort((a, b) => a.dueAt - b.dueAt)[0];
  }

  async function fire(timer: Timer): Promise<void> {
    timers.delete(timer);
    monotonic = timer.dueAt;
    timer.callback();
    await settled();
  }

  return {
    now: () => startedAt + monotonic + wallAhead,
    monotonic: () => monotonic,
    setTimer(callback, delayMs, options) {
      if (!(delayMs >= 0 && delayMs <= maxDelayMs)) throw new RangeError(`No clock has a timer of ${delayMs} ms.`);
      const timer = { callback, dueAt: monotonic + delayMs, background: options?.background === true };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    get timers() {
      return { all: timers.size, background: [...timers].filter(({ background }) => background).length };
    },
    async advance(ms) {
      const until = monotonic + ms;
      await settled();
      for (let timer = next(until); timer; timer = next(until)) await fire(timer);
      monotonic = until;
    },
    async until(promise) {
      let pending = true;
      const done = () => {
        pending = false;
      };
      promise.then(done, done);
      await settled();
      while (pending) {
        const timer = next(Number.POSITIVE_INFINITY);
        if (!timer) throw new Error('No timer is armed: nothing can settle this promise.');
        await fire(timer);
      }
      return promise;
    },
    step(ms) {
      wallAhead += ms;
    },
    suspend(ms) {
      wallAhead += ms;
    },
  };
}

/** WebCrypto works on other threads, so the only way to know whether it is busy is to count. */
let cryptoUnderWay = 0;
type CryptoFunction = (...parameters: unknown[]) => Promise<unknown>;

/** The end of the call before. One call after the other: a test must not depend on which thread is quicker. */
let lastCall: Promise<unknown> = Promise.resolve();

function count(name: 'importKey' | 'deriveBits' | 'deriveKey' | 'encrypt' | 'decrypt' | 'digest'): CryptoFunction {
  const original = crypto.subtle[name] as CryptoFunction;
  return async (...parameters) => {
    cryptoUnderWay += 1;
    const result = lastCall.then(() => original.apply(crypto.subtle, parameters));
    lastCall = result.catch(() => {});
    try {
      return await result;
    } finally {
      cryptoUnderWay -= 1;
    }
  };
}

/** Remembers what HKDF derived, which depends on its parameters alone. The thousands of clients of a test have one secret. */
function remember(call: CryptoFunction): CryptoFunction {
  const results = new Map<string, Promise<unknown>>();
  const keys: unknown[] = [];
  const idOf = (key: unknown) => (keys.includes(key) ? keys.indexOf(key) : keys.push(key) - 1);
  const textOf = (_name: string, value: unknown) => {
    if (value instanceof Uint8Array) return value.toString();
    return value instanceof CryptoKey ? idOf(value) : value;
  };
  return (...parameters) => {
    if (!parameters.some((parameter) => Object(parameter).name === 'HKDF')) return call(...parameters);
    const text = JSON.stringify(parameters, textOf);
    const result = results.get(text) ?? call(...parameters);
    results.set(text, result);
    return result;
  };
}

for (const name of ['digest', 'encrypt', 'decrypt'] as const) {
  Object.defineProperty(crypto.subtle, name, { value: count(name), configurable: true });
}
for (const name of ['importKey', 'deriveBits', 'deriveKey'] as const) {
  Object.defineProperty(crypto.subtle, name, { value: remember(count(name)), configurable: true });
}

/** Resolves when all that can happen without time passing has happened. */
export async function settled(): Promise<void> {
  for (let quietTurns = 0; quietTurns < 3; ) {
    await setImmediate();
    quietTurns = cryptoUnderWay === 0 ? quietTurns + 1 : 0;
  }
}
