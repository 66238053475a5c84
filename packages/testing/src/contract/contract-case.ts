/**
 * One case of a contract suite: hand `name` and `run` to any test runner. `run` rejects with an
 * `AssertionError` when the contract is broken.
 */
export interface ContractCase {
  /** A sentence about behaviour, unique within its suite. */
  readonly name: string;
  run(): Promise<void>;
}
