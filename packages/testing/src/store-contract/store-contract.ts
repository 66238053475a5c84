import type { ContractCase } from '../contract/contract-case.ts';
import { atomicityCases } from './atomicity.ts';
import { clockCases } from './clock.ts';
import { contentCases } from './contents.ts';
import { deadlineCases } from './deadlines.ts';
import { enduranceCases } from './endurance.ts';
import { caseDefiner } from './fixture.ts';
import { repetitionCases } from './repetition.ts';
import type { OpenStore } from './subject.ts';

/**
 * All that a store has to do, as data for any test runner. Each case works on fresh random keys, so
 * that a server may be shared; the records stay there afterwards, since a store cannot delete.
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
