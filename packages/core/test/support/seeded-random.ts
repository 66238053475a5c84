import { beforeEach, vi } from 'vitest';

/** Returns numbers from 0 to 1, the same ones for the same seed: mulberry32. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Gives each test of the file the same random numbers, so that its figures are the same in each run. */
export function seedRandom(): void {
  beforeEach(() => {
    const random = vi.spyOn(Math, 'random').mockImplementation(randomOf(1));
    return () => random.mockRestore();
  });
}
