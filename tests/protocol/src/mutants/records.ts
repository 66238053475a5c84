import type { Mutant } from './mutant.ts';

/** A mutant, and the scenario that notices it. */
interface RecordMutant extends Mutant {
  readonly scenario: string;
}

const noticed = 'a scenario in tests/protocol/test/scenarios.test.ts notices';

/** Mutants of what joins, keeps and translates whole records. */
export const recordMutants: readonly RecordMutant[] = [
  {
    name: 'of two records one counts',
    about: 'when records that forked are joined, the tokens that only one process remembers are dropped',
    file: 'ledger/repair.ts',
    find: 'entries: [...base.entries, ...entries].sort((a, b) => a.at - b.at),',
    replace: 'entries: [...base.entries],',
    scenario: 'two records that forked a while ago count both sides when they are joined',
    modes: ['remembered'],
  },
  {
    name: 'what was added up is joined by the smaller number',
    about: 'when records that forked are joined, older tokens count only as the store has them',
    file: 'ledger/repair.ts',
    find: 'condensed: [...base.condensed, ...condensed],',
    replace: 'condensed: base.condensed.length > 0 ? base.condensed : condensed,',
    scenario: 'two records that forked long ago count no fewer than either when they are joined',
    modes: [],
    survives: `only records that forked more than 150 tokens ago show it; ${noticed}`,
  },
  {
    name: 'an older record knows everything',
    about: 'a record that went back is not taken for one that may miss tokens',
    file: 'ledger/repair.ts',
    find: 'completeSince: regressed ? now : base.completeSince,',
    replace: 'completeSince: base.completeSince,',
    scenario: 'a record that went back allows few tokens for as long as the lost ones may count',
    modes: ['failover'],
    survives: `the reserve pays for what such a record has forgotten; ${noticed}`,
  },
  {
    name: 'who remembers an older record knows everything',
    about: 'a new record is not new any more when a process joins that remembers the one before',
    file: 'ledger/repair.ts',
    find: 'spentElsewhere,\n  };\n  const restored',
    replace: 'spentElsewhere,\n    ...(!regressed && { completeSince: older.completeSince }),\n  };\n  const restored',
    scenario: 'a lost record allows few tokens, also when somebody who remembers an older one joins',
    modes: ['wiped'],
    survives: `the reserve pays for what the lost record knew; ${noticed}`,
  },
  {
    name: 'what lies in the future is dropped',
    about: 'when a clock that was ahead is put right, the tokens that seem to be of later are not counted',
    file: 'ledger/clock-set-back.ts',
    find: 'entries: record.entries.map(movedPart)',
    replace: 'entries: record.entries.filter(({ at }) => at <= now).map(movedPart)',
    scenario: 'a clock that was ahead and is put right takes no token away, and none counts for longer',
    modes: ['to-and-fro'],
  },
  {
    name: 'what was added up in the future is dropped',
    about: 'when a clock that was ahead is put right, older tokens that seem to be of later are not counted',
    file: 'ledger/clock-set-back.ts',
    find: 'condensed: record.condensed.map(movedPart),',
    replace: 'condensed: record.condensed.filter(({ at }) => at <= now).map(movedPart),',
    scenario: 'a clock that was ahead and is put right takes no token away, and none counts for longer',
    modes: [],
    survives: `only clocks that are set while 150 tokens count show it; ${noticed}`,
  },
  {
    name: 'tokens of the future count from then',
    about: 'when a clock that was ahead is put right, its tokens count for longer by as much as it was ahead',
    file: 'ledger/clock-set-back.ts',
    find: 'Math.min(now, at + (asSeen.has(JSON.stringify(part)) ? leapSince(minOldNow) : restLeapMs));',
    replace: 'at + (asSeen.has(JSON.stringify(part)) ? leapSince(minOldNow) : restLeapMs);',
    scenario: 'a clock that was ahead and is put right takes no token away, and none counts for longer',
    modes: ['store-ahead'],
  },
  {
    name: 'a wait keeps the clock that was ahead',
    about: 'when a clock that was ahead is put right, a wait of the fleet lasts longer by as much as it was ahead',
    file: 'ledger/clock-set-back.ts',
    find: 'rateLimit: record.rateLimit && shorter(record.rateLimit),',
    replace: 'rateLimit: record.rateLimit,',
    scenario: 'a wait that began on a clock that was ahead lasts an hour at most',
    modes: ['store-ahead'],
    survives: `few simulated endpoints say how long to wait while a clock is ahead; ${noticed}`,
  },
];
