import fc from 'fast-check';
import { day } from '../judge/units.ts';
import { begun } from './records.ts';

interface Edit {
  readonly kind: 'likely' | 'anything' | 'remove' | 'repeat';
  readonly at: number;
  readonly number: number;
  readonly text: string;
  readonly value: unknown;
}

type Parts = Record<string, unknown>;

const instants = fc.integer({ min: begun - 40 * day, max: begun + 40 * day });
const numbers = fc.oneof(instants, fc.integer({ min: 0, max: 200 }), fc.constantFrom(2 ** 31, 8e15));
const texts = ['issued', 'rejected', 'several', 'stated', 'requests', 'orders', 'key 1', 'secret', '', '__proto__'];
const values = fc.constantFrom<unknown>(
  -1,
  0.5,
  8e15 + 2,
  1e308,
  null,
  true,
  [],
  {},
  'constructor',
  'x'.repeat(40_001),
);

/** JSON texts of a corpus in which a few members have another value, are missing, or are there twice. */
export function rewritten(corpus: readonly string[]): fc.Arbitrary<string> {
  const edit: fc.Arbitrary<Edit> = fc.record({
    kind: fc.constantFrom('likely', 'likely', 'likely', 'likely', 'repeat', 'remove', 'anything'),
    at: fc.nat(65_535),
    number: numbers,
    text: fc.constantFrom(...texts),
    value: values,
  });
  return fc
    .tuple(fc.constantFrom(...corpus), fc.array(edit, { minLength: 1, maxLength: 5 }))
    .map(([text, edits]) => JSON.stringify(edits.reduce(apply, JSON.parse(text))));
}

function apply(root: Parts, { kind, at, number, text, value }: Edit): Parts {
  const places = placesIn(root);
  const place = places[at % Math.max(1, places.length)];
  if (!place) return root;
  const [parts, name] = place;
  const write = (next: unknown) =>
    Object.defineProperty(parts, name, { value: next, enumerable: true, configurable: true, writable: true });
  const before = parts[name];
  if (kind === 'repeat' && Array.isArray(parts)) parts.push(before);
  else if (kind === 'remove') delete parts[name];
  else if (kind === 'anything') write(value);
  else if (typeof before === 'number') write(number);
  else if (typeof before === 'string') write(text);
  return root;
}

/** Every member at every depth. */
function placesIn(parts: Parts): (readonly [Parts, string])[] {
  return Object.keys(parts).flatMap((name) => {
    const inside = parts[name] === Object(parts[name]) ? placesIn(parts[name] as Parts) : [];
    return [[parts, name] as const, ...inside];
  });
}
