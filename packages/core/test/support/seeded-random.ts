import { beforeEach, vi } from 'vitest';

/** Gives each test of the file the same random numbers, so that its figures are the same in each run: mulberry32. */
export function seedRandom(): void {
  beforeEach(() => {
    let state = 1;
    const random = vi.spyOn(Math, 'random').mockImplementation(() => {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
    });
    return () => random.mockRestore();
  });
}
