import type { Mutant } from './mutant.ts';

/** Mutants that take the operator's figures for more than advice, or read them wrongly. */
export const quotaMutants: readonly Mutant[] = [
  {
    name: 'quota: nothing left refuses',
    about: 'if the operator says that nothing is left, nobody gets a token before its window ends',
    file: 'ledger/count.ts',
    find: 'roomAt: Math.max(termRoomAt, newRecordRoomAt),',
    replace: `roomAt: Math.max(termRoomAt, newRecordRoomAt, ...record.attempts.flatMap(({ outcome }) =>
        (outcome?.quota ?? []).flatMap(([, , remaining, endsInMs]) => (remaining === 0 ? outcome!.at + endsInMs : [])))),`,
    modes: ['quota'],
  },
  {
    name: 'quota: what the operator counts is spent',
    about: 'the tokens that the operator counts are taken from the budget',
    file: 'ledger/count.ts',
    find: 'const parts = partsOf(record, now, term);',
    replace: `const parts = [...partsOf(record, now, term), ...record.attempts.flatMap(({ outcome }) =>
      (outcome?.quota ?? []).map(([, tokens, remaining, endsInMs]) => {
        return { at: outcome!.at, unknown: false, count: tokens - remaining, leavesAt: outcome!.at + endsInMs };
      }))];`,
    modes: ['quota'],
  },
  {
    name: 'quota: all that the operator counts is foreign',
    about: 'the tokens of the record are not taken from what the operator counts',
    file: 'ledger/quota.ts',
    find: 'tokens - remaining - known',
    replace: 'tokens - remaining - 0 * known',
    modes: ['quota'],
  },
  {
    name: 'quota: the window is forgotten',
    about: 'tokens of earlier windows of the operator are taken from what it counts in this one',
    file: 'ledger/quota.ts',
    find: 'beganAt + term.settledMs, term',
    replace: '0 * beganAt, term',
    modes: ['quota'],
  },
  {
    name: 'quota: a lost answer is no token',
    about: 'tokens of unknown outcome are not taken from what the operator counts',
    file: 'ledger/quota.ts',
    find: 'filter(({ at }) => at <= toldAt)',
    replace: "filter(({ at, outcome }) => at <= toldAt && outcome?.kind === 'issued')",
    modes: ['quota'],
  },
  {
    name: 'quota: a window never ends',
    about: 'what the operator said is shown for ever',
    file: 'ledger/quota.ts',
    find: 'filter(({ endsAt }) => endsAt > now)',
    replace: 'filter(({ endsAt }) => endsAt > 0 * now)',
    modes: [],
    test: 'ledger/quota',
    survives: 'the judge reads what `getUsage()` says with the right code',
  },
  {
    name: 'quota: the organization is the client',
    about: 'what all clients of an organization got is taken for what this one got',
    file: 'endpoint/token-endpoint.ts',
    find: 'quota: quotaIn(response, clientQuota),',
    replace: 'quota: quotaIn(response, organizationQuota),',
    modes: ['quota'],
  },
  {
    name: 'quota: half of it is understood',
    about: 'of a header that contradicts itself, what can be read is believed',
    file: 'endpoint/quota-header.ts',
    find: '!unit || isTwice || remaining > tokens || endsInMs > windowMs',
    replace: '!unit || endsInMs > windowMs',
    modes: ['quota'],
  },
  {
    name: 'quota: a renewal takes what is left for others',
    about: 'tokens are renewed ahead of time although the operator says that nothing is left',
    file: 'ledger/decide.ts',
    find: 'isPatient ? nothingLeftUntil(record, now) : 0',
    replace: 'isPatient ? 0 * nothingLeftUntil(record, now) : 0',
    modes: [],
    test: 'service-auth.quota',
  },
];
