// A Date shows instants up to 8.64e15. The difference is room for clocks that differ.
const maxInstant = 8e15;

/** Reads one part of the parsed JSON. Throws if the part is damaged. */
export type Reader<Part> = (wire: unknown) => Part;

export function demand(condition: boolean): asserts condition {
  if (!condition) throw new RangeError('damaged');
}

export const text: Reader<string> = (wire) => {
  demand(typeof wire === 'string' && wire.length <= 40_000);
  return wire;
};

export const count: Reader<number> = (wire) => {
  demand(Number.isInteger(wire) && (wire as number) >= 0 && (wire as number) <= maxInstant);
  return wire as number;
};

export const countOrZero: Reader<number> = (wire) => (wire === undefined ? 0 : count(wire));

export const flag: Reader<boolean> = (wire) => {
  demand(typeof wire === 'boolean');
  return wire;
};

export const optional =
  <Part>(read: Reader<Part>): Reader<Part | undefined> =>
  (wire) =>
    wire === undefined ? undefined : read(wire);

export const list = (wire: unknown, max: number): unknown[] => {
  demand(Array.isArray(wire) && wire.length <= max);
  return wire;
};

export const listOf =
  <Part>(read: Reader<Part>, max: number): Reader<Part[]> =>
  (wire) =>
    list(wire, max).map((part) => read(part));
