/** Says how a part of a record is stored. */
export interface PartCodec<Part> {
  /** Reads the part from parsed JSON. Throws if it is damaged. `names`: the list of names of the record. */
  read(wire: unknown, names: readonly string[]): Part;
  /** Returns the JSON of the part. `undefined` is left out. `indexOf` gives the index of a name in the list. */
  write(part: Part, indexOf: (name: string) => number): unknown;
}

/** The kinds of the fields of an object. */
type PartCodecs<Whole> = { readonly [Name in keyof Whole]-?: PartCodec<Whole[Name]> };

// A Date shows instants up to 8.64e15. The difference is room for clocks that differ.
const maxInstant = 8e15;

// These fields have another name in the stored text, which must not change when a name in the code does.
const storedNames = new Map([
  ['audiences', 'slots'],
  ['credentialsBackoff', 'refused'],
]);

export function demand(condition: boolean): asserts condition {
  if (!condition) throw new RangeError('damaged');
}

/** A part whose JSON is its value. */
const plain = <Part>(read: PartCodec<Part>['read']): PartCodec<Part> => ({ read, write: (part) => part });

export const text: PartCodec<string> = plain((wire) => {
  demand(typeof wire === 'string' && wire.length <= 40_000);
  return wire;
});

export const count: PartCodec<number> = plain((wire) => {
  demand(Number.isInteger(wire) && (wire as number) >= 0 && (wire as number) <= maxInstant);
  return wire as number;
});

/** A number that is left out if it is 0. */
export const countOrZero: PartCodec<number> = {
  read: (wire, names) => (wire === undefined ? 0 : count.read(wire, names)),
  write: (part) => (part === 0 ? undefined : part),
};

export const flag: PartCodec<boolean> = plain((wire) => {
  demand(typeof wire === 'boolean');
  return wire;
});

/** One of some values. The text has its index. */
export const oneOf = <Value>(values: readonly Value[]): PartCodec<Value> => ({
  read: (wire, names) => found(values[count.read(wire, names)]),
  write: (part) => values.indexOf(part),
});

/** The name of an instance or an audience. Names repeat, so the text has the index of the name in a list. */
export const name: PartCodec<string> = {
  read: (wire, names) => found(names[count.read(wire, names)]),
  write: (part, indexOf) => indexOf(part),
};

function found<Value>(value: Value | undefined): Value {
  demand(value !== undefined);
  return value;
}

/** A part that may be undefined. `absent` is its value in the text then. */
export const optional = <Part>(
  { read, write }: PartCodec<Part>,
  absent: null | undefined = undefined,
): PartCodec<Part | undefined> => ({
  read: (wire, names) => (wire === absent ? undefined : read(wire, names)),
  write: (part, indexOf) => (part === undefined ? absent : write(part, indexOf)),
});

export const listOf = <Part>({ read, write }: PartCodec<Part>, max: number): PartCodec<readonly Part[]> => ({
  read: (wire, names) => list(wire, max).map((part) => read(part, names)),
  write: (parts, indexOf) => parts.map((part) => write(part, indexOf)),
});

function list(wire: unknown, max: number): unknown[] {
  demand(Array.isArray(wire) && wire.length <= max);
  return wire;
}

/** An object with exactly these fields. Fields of a polluted prototype are ignored. A value that is no object has none of the fields. */
export const object = <Whole extends object>(kinds: PartCodecs<Whole>): PartCodec<Whole> => {
  const keys = Object.keys(kinds).map((field) => storedNames.get(field) ?? field);
  const empty = emptyOf(keys);
  return keyed(kinds, keys, () => ({ ...empty }));
};

/** An object that is stored as the list of its fields, in this order. */
export const row = <Whole extends object>(kinds: PartCodecs<Whole>): PartCodec<Whole> => {
  const fields = Object.keys(kinds);
  const { read, write } = keyed(kinds, Object.keys(fields), () => [...fields]);
  return { read: (wire, names) => read(list(wire, fields.length), names), write };
};

/** `empty` returns an object that has all of the keys already, so a setter on a polluted prototype is never called. */
function keyed<Whole extends object>(
  kinds: PartCodecs<Whole>,
  keys: readonly string[],
  empty: () => object,
): PartCodec<Whole> {
  const fields = Object.entries<PartCodec<unknown>>(kinds).map(
    ([field, kind], at) => [field, keys[at] as string, kind] as const,
  );
  const emptyPart = emptyOf(Object.keys(kinds));
  return {
    read(wire, names) {
      const part = { ...emptyPart };
      for (const [field, key, kind] of fields) part[field] = kind.read(ownProperty(Object(wire), key), names);
      return part as Whole;
    },
    write(part, indexOf) {
      const wire = empty() as Record<string, unknown>;
      for (const [field, key, kind] of fields) wire[key] = kind.write(ownProperty(part, field), indexOf);
      return wire;
    },
  };
}

function emptyOf(keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(keys.map((key) => [key, undefined]));
}

function ownProperty(part: object, field: string): unknown {
  return Object.hasOwn(part, field) ? (part as Record<string, unknown>)[field] : undefined;
}
