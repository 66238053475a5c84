import assert from 'node:assert/strict';
import { secretCanary } from '@service-auth/test-tools/canaries';
import fc from 'fast-check';

/** A family of inputs and the property that must be true for each of them. */
export type Target = (parameters: {
  readonly seed: number;
  readonly numRuns: number;
}) => Promise<fc.RunDetails<[unknown]>>;

/** Processor time that one input may take, in milliseconds. */
const boundMs = 250;
/** An input that takes long is tried so many times: the compiler and the garbage collector use processor time, too, and a busy machine more. */
const attempts = 10;

export function target<Input>(inputs: fc.Arbitrary<Input>, verify: (input: Input) => void | Promise<void>): Target {
  const property = fc.asyncProperty(inputs, async (input) => {
    let tookMs = 0;
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const begun = process.cpuUsage();
      await verify(input);
      const { user, system } = process.cpuUsage(begun);
      tookMs = (user + system) / 1_000;
      if (tookMs < boundMs) return;
    }
    assert.fail(`${tookMs} ms of processor time, ${attempts} times`);
  });
  return async (parameters) =>
    (await fc.check(property, { ...parameters, timeout: 60_000 })) as fc.RunDetails<[unknown]>;
}

const hostile: readonly unknown[] = [
  secretCanary,
  new Error(secretCanary),
  Object.assign(new Error('x', { cause: new Error(secretCanary) }), {
    config: { data: secretCanary },
    code: secretCanary,
  }),
  Object.assign(new Error('x'), { code: 'ECONNREFUSED', cause: secretCanary }),
  Object.assign(Object.create(null), { message: secretCanary }),
  { toString: () => secretCanary, toJSON: () => secretCanary },
  // Hidden, or it could not be printed as a counterexample.
  Object.defineProperty(new Error('x'), 'code', {
    get: () => {
      throw new Error(secretCanary);
    },
  }),
  new String('text'),
  Symbol('x'),
  Number.NaN,
  Number.POSITIVE_INFINITY,
  -0,
  2 ** 53,
  '\uD800',
  'x'.repeat(100_000),
];

/** Arbitrary JavaScript values, and values that are known to cause faults. */
export const anything: fc.Arbitrary<unknown> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      withObjectString: true,
      withSet: true,
      withSparseArray: true,
      withTypedArray: true,
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom(...hostile) },
);
