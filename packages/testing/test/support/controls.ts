import assert from 'node:assert/strict';
import type { ContractCase } from '../../src/index.ts';

/** All `cases` fail, and each says `words`. */
export function caught(words: RegExp, ...cases: readonly string[]): Record<string, RegExp> {
  return Object.fromEntries(cases.map((name) => [name, words]));
}

/** One thing done wrong, and what a contract says about it. */
export interface Mistake<Subject> {
  /** The end of a sentence that begins with "a subject that". Unique within its list. */
  readonly name: string;
  /** Wraps a right subject. The result is wrong in this one thing, and has a state of its own at each call. */
  readonly breaks: (subject: Subject) => Subject;
  /** The names of the cases that fail, at least one, and for each what the message of its failure says. */
  readonly caughtBy: Readonly<Record<string, RegExp>>;
}

/**
 * Negative controls: whether a contract can fail at all. Gives one case for each mistake. It passes if the broken subject fails every case in `caughtBy`,
 * with a message that says what `caughtBy` expects. The contract is called anew for each failure, so that none builds on what another one left behind.
 */
export function controls<Subject>(
  contract: (subject: Subject) => readonly ContractCase[],
  subject: Subject,
  mistakes: readonly Mistake<Subject>[],
): ContractCase[] {
  return mistakes.map(({ name, breaks, caughtBy }) => ({
    name: `the contract fails with a subject that ${name}`,
    async run() {
      const expected = Object.entries(caughtBy);
      assert.ok(expected.length > 0, `No case is expected to fail with a subject that ${name}.`);
      const failures = expected.map(async ([caseName, words]) => {
        const found = contract(breaks(subject)).find((each) => each.name === caseName);
        assert.ok(found, `The contract has no case "${caseName}".`);
        await failsInWords(found, words);
      });
      // All of them end before this case does: none works on while the next case runs.
      for (const outcome of await Promise.allSettled(failures)) if (outcome.status === 'rejected') throw outcome.reason;
    },
  }));
}

async function failsInWords({ name, run }: ContractCase, words: RegExp): Promise<void> {
  const failure = await run().then(
    () => assert.fail(`The case "${name}" passes, and was expected to fail.`),
    (error: unknown) => error,
  );
  const message = failure instanceof Error ? failure.message : String(failure);
  assert.match(message, words, `The case "${name}" fails in other words than ${words}: ${message}`);
}
