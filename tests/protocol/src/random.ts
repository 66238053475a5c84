/** A seeded source of randomness: the same seed, the same numbers. */
export interface Random {
  /** At least 0, below 1. */
  next(): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  /** A real number from `least` to `most`. */
  between(least: number, most: number): number;
  /** An integer from `least` to `most`, both included. */
  integer(least: number, most: number): number;
  pick<Item>(items: readonly Item[]): Item;
  /** The same items in another order. */
  shuffled<Item>(items: readonly Item[]): Item[];
  /** A source of its own: what is drawn from it changes nothing here. */
  fork(name: string): Random;
}

/** Creates a source (sfc32, seeded by an FNV hash of `seed`). */
export function createRandom(seed: string): Random {
  const hash = fnv(seed);
  let [a, b, c, counter] = [hash, hash ^ 0x9e3779b9, fnv(`${seed}+`), 1];
  const next = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 4_294_967_296;
  };
  for (let warmUp = 0; warmUp < 12; warmUp++) next();
  const between = (least: number, most: number) => least + (most - least) * next();
  const integer = (least: number, most: number) => Math.floor(between(least, most + 1));
  return {
    next,
    chance: (probability) => next() < probability,
    between,
    integer,
    pick: <Item>(items: readonly Item[]) => items[integer(0, items.length - 1)] as Item,
    shuffled(items) {
      const places = items.map((item) => ({ item, place: next() }));
      return places.sort((one, other) => one.place - other.place).map(({ item }) => item);
    },
    fork: (name) => createRandom(`${seed}/${name}`),
  };
}

const fnvStart = 0x811c9dc5;

/** FNV-1a, 32 bits. Twice, because one function of both is four times slower. */
export function fnv(text: string, start: number = fnvStart): number {
  let hash = start;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}

export function fnvOfBytes(bytes: Uint8Array, start: number = fnvStart): number {
  let hash = start;
  for (let index = 0; index < bytes.length; index++) hash = Math.imul(hash ^ (bytes[index] as number), 0x01000193);
  return hash >>> 0;
}
