/** Numbers that look random and follow from a seed. */
export interface Random {
  /** 0 to less than 1. */
  next(): number;
  /** An integer from `least` to `most`. */
  between(least: number, most: number): number;
  pick<Item>(items: readonly Item[]): Item;
  shuffled<Item>(items: readonly Item[]): Item[];
  chance(probability: number): boolean;
}

/** Mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    between,
    pick(items) {
      const item = items[between(0, items.length - 1)];
      if (item === undefined) throw new RangeError('nothing to pick from');
      return item;
    },
    shuffled(items) {
      const places = items.map((item) => ({ item, place: next() }));
      return places.sort((a, b) => a.place - b.place).map(({ item }) => item);
    },
    chance: (probability) => next() < probability,
  };
}
