import { fnv, fnvOfBytes, type Random } from './random.ts';

let isAside = false;
/** Does what must not change a run, so it draws from a randomness of its own. `work` must end in one turn. */
export async function aside<Result>(work: () => Promise<Result>): Promise<Result> {
  isAside = true;
  try {
    return await work();
  } finally {
    // What it left behind runs before that.
    process.nextTick(() => {
      isAside = false;
    });
  }
}

/**
 * Replaces the randomness, the time and the cryptography of this process until the returned function is called: `Math.random` and `crypto` draw from
 * `random`, and `crypto.subtle` is a toy that answers by microtask. The real one answers from other threads, which no seed can order.
 * If `repeats` returns true, bytes are drawn that were drawn before, as by a process that was resumed from the same image of memory as another one.
 */
export function seedGlobals(
  random: Random,
  repeats: () => boolean = () => false,
  timer: () => number = ticking(),
): () => void {
  const originalRandom = Math.random;
  const [dateNow, performanceNow] = [Date.now, performance.now];
  const originalStackTraceLimit = Error.stackTraceLimit;
  const original = Object.getOwnPropertyDescriptor(globalThis, 'crypto') as PropertyDescriptor;
  const others = random.fork('aside');
  Math.random = () => (isAside ? others : random).next();
  // Ids and nonces contain the time of this machine. In a run only the clocks of the simulation may matter.
  Date.now = () => 0;
  performance.now = () => (isAside ? 0 : timer());
  // A run throws thousands of errors, and their stacks are not read.
  Error.stackTraceLimit = 0;
  const drawn = new Map<number, Uint8Array>();
  const getRandomValues = (bytes: Uint8Array) => {
    if (isAside) {
      bytes.set(bytes.map(() => others.integer(0, 255)));
      return bytes;
    }
    const before = drawn.get(bytes.length);
    if (before && repeats()) bytes.set(before);
    else for (let index = 0; index < bytes.length; index++) bytes[index] = random.integer(0, 255);
    drawn.set(bytes.length, bytes.slice());
    return bytes;
  };
  Object.defineProperty(globalThis, 'crypto', { value: { getRandomValues, subtle }, configurable: true });
  return () => {
    Math.random = originalRandom;
    Date.now = dateNow;
    performance.now = performanceNow;
    Error.stackTraceLimit = originalStackTraceLimit;
    Object.defineProperty(globalThis, 'crypto', original);
  };
}

/** Never shows the same time twice. */
function ticking(): () => number {
  let draws = 0;
  return () => draws++ / 1_024;
}

interface ToyKey {
  readonly material: Uint8Array;
}

interface ToyAlgorithm {
  readonly info: Uint8Array;
  readonly iv: Uint8Array;
  readonly additionalData: Uint8Array;
}

const tagLength = 16;

/** Keeps nothing secret, but tells keys, contexts and damaged texts apart as the real one does. */
const subtle = {
  async importKey(_format: string, bytes: Uint8Array): Promise<ToyKey> {
    return { material: Uint8Array.from(bytes) };
  },
  async deriveBits({ info }: ToyAlgorithm, { material }: ToyKey, bits: number): Promise<ArrayBuffer> {
    return hashed(bits / 8, material, info);
  },
  async deriveKey({ info }: ToyAlgorithm, { material }: ToyKey): Promise<ToyKey> {
    return { material: new Uint8Array(hashed(32, material, info)) };
  },
  async digest(_algorithm: string, bytes: Uint8Array): Promise<ArrayBuffer> {
    return hashed(32, bytes);
  },
  async encrypt({ iv, additionalData }: ToyAlgorithm, { material }: ToyKey, data: Uint8Array): Promise<ArrayBuffer> {
    const sealed = new Uint8Array(data.length + tagLength);
    sealed.set(masked(data, material, iv));
    sealed.set(new Uint8Array(hashed(tagLength, material, iv, additionalData, data)), data.length);
    return sealed.buffer;
  },
  async decrypt({ iv, additionalData }: ToyAlgorithm, { material }: ToyKey, bytes: Uint8Array): Promise<ArrayBuffer> {
    const data = masked(bytes.subarray(0, -tagLength), material, iv);
    const tag = new Uint8Array(hashed(tagLength, material, iv, additionalData, data));
    if (!bytes.subarray(-tagLength).every((byte, index) => byte === tag[index]))
      throw new DOMException('damaged', 'OperationError');
    return data.buffer;
  },
};

function masked(data: Uint8Array, material: Uint8Array, iv: Uint8Array): Uint8Array<ArrayBuffer> {
  const mask = fnvOfBytes(iv, fnvOfBytes(material)) & 0xff;
  const result = new Uint8Array(data.length);
  for (let index = 0; index < data.length; index++) result[index] = (data[index] as number) ^ mask;
  return result;
}

function hashed(length: number, ...parts: readonly Uint8Array[]): ArrayBuffer {
  let state = parts.reduce((hash, part) => fnvOfBytes(part, fnv(`${part.length}:`, hash)), fnv(''));
  const result = new Uint8Array(length);
  for (let index = 0; index < length; index++) {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 1;
    result[index] = state >>> 24;
  }
  return result.buffer;
}
