/** One passage of core's source replaced by another, while it is loaded. */
export interface Change {
  /** Under `packages/core/src`. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
}

/** Code that is wrong on purpose. */
export interface Mutant extends Change {
  readonly name: string;
  /** The mistake, in words. */
  readonly about: string;
  /** The modes in which to look for a seed that notices, in this order. */
  readonly modes: readonly string[];
  /** A second change, where one alone is harmless. */
  readonly also?: Change;
  /** If no seed notices: the test that fails with it, under `packages/core/test`, without `.test.ts`. */
  readonly test?: string;
  /** If no seed notices: the scripted course of events that is broken by it. */
  readonly scenario?: string;
  /** Why no seed notices. */
  readonly survives?: string;
}
