import type { ContractCase } from './contract-case.ts';
import { atomicityCases } from './store-contract/atomicity.ts';
import { caseDefiner } from './store-contract/bench.ts';
import { clockCases } from './store-contract/clock.ts';
import { contentCases } from './store-contract/contents.ts';
import { deadlineCases } from './store-contract/deadlines.ts';
import { enduranceCases } from './store-contract/endurance.ts';
import { repetitionCases } from './store-contract/repetition.ts';
import type { OpenStore } from './store-contract/subject.ts';

/**
 * All that a store has to do, as data for any test runner. Each case works on fresh random keys, so that a server may be shared; the
 * records stay there afterwards, since a store cannot delete. Run the cases one after another: some step this process's `Date`.
 */
export function storeContract(open: OpenStore): ContractCase[] {
  const define = caseDefiner(open);
  return [
    ...atomicityCases(define),
    ...repetitionCases(define),
    ...enduranceCases(define),
    ...contentCases(define),
    ...clockCases(define),
    ...deadlineCases(define),
  ];
}
