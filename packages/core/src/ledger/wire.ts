import type { Unknown } from './journal.ts';

// Reads parts of parsed JSON. Everything throws if a part is damaged.

// A Date shows instants up to 8.64e15. The difference is room for clocks that differ.
const maxInstant = 8e15;
/** Parts that this release does not know may be nested so deep. */
const maxDepth = 8;

export function check(condition: boolean): asserts condition {
  if (!condition) throw new RangeError('damaged');
}

export function text(wire: unknown, maxLength = 40_000): string {
  check(typeof wire === 'string' && wire.length <= maxLength);
  return wire;
}

export function signed(wire: unknown): number {
  check(Number.isInteger(wire) && Math.abs(wire as number) <= maxInstant);
  return wire as number;
}

export function count(wire: unknown): number {
  check(Number.isInteger(wire) && (wire as number) >= 0 && (wire as number) <= maxInstant);
  return wire as number;
}

export function optional<Part>(wire: unknown, read: (wire: unknown) => Part): Part | undefined {
  return wire === undefined ? undefined : read(wire);
}

export function row(wire: unknown, maxCells: number): readonly unknown[] {
  check(Array.isArray(wire) && wire.length <= maxCells);
  return wire;
}

export function parts<Part>(wire: unknown, max: number, read: (wire: unknown) => Part): Part[] {
  return row(wire, max).map(read);
}

export function uniqueBy<Name extends string, Part extends Record<Name, unknown>>(name: Name, list: Part[]): Part[] {
  check(new Set(list.map((part) => part[name])).size === list.length);
  return list;
}

/** Returns the own members of an object that are known, and all others. Those of a polluted prototype are ignored. */
export function rest(wire: unknown, known: readonly string[]): { own: Unknown; more: Unknown | undefined } {
  check(wire === Object(wire) && !Array.isArray(wire));
  const own: Record<string, unknown> = Object.create(null);
  let more: Record<string, unknown> | undefined;
  for (const [name, member] of Object.entries(wire as object)) {
    if (known.includes(name)) own[name] = member;
    else {
      check(isShallow(member, maxDepth));
      more ??= Object.create(null) as Record<string, unknown>;
      more[name] = member;
    }
  }
  return { own, more };
}

/** Returns the cells of a row beyond those that are known. */
export function restOfRow(cells: readonly unknown[], known: number): { more?: readonly unknown[] } {
  if (cells.length <= known) return {};
  const more = cells.slice(known);
  check(isShallow(more, maxDepth));
  return { more };
}

function isShallow(value: unknown, depth: number): boolean {
  if (value !== Object(value)) return true;
  return depth > 0 && Object.values(value as object).every((member) => isShallow(member, depth - 1));
}

/** Removes zeros from the end of a row. Whoever reads it takes what is missing for 0. */
export function trimmed(cells: readonly unknown[]): unknown[] {
  return cells.slice(0, cells.findLastIndex((cell) => cell !== 0) + 1);
}

/** The names of a record: of audiences, instances, keys and epochs. They repeat, so a row has the index of each. */
export interface Names {
  readonly list: readonly string[];
  index(name: string): number;
  name(index: unknown): string;
}

export function namesOf(list: string[]): Names {
  const indexes = new Map<string, number>();
  return {
    list,
    index(name) {
      const index = indexes.get(name) ?? list.push(name) - 1;
      indexes.set(name, index);
      return index;
    },
    name(index) {
      const name = list[count(index)];
      check(name !== undefined);
      return name;
    },
  };
}

/** Reads names with a number each. */
export function numbers(wire: unknown, names: Names): Readonly<Record<string, number>> {
  const found: Record<string, number> = Object.create(null);
  for (const pair of row(wire, 20_000)) {
    const [name, number] = row(pair, 64);
    found[names.name(name)] = count(number);
  }
  return found;
}
