import type { Mutant } from './mutant.ts';

/** Mutants of the rules for who asks, who waits, and when a fleet tries again. */
export const sharingMutants: readonly Mutant[] = [
  {
    name: 'lease ignored',
    about: 'every process without a token asks',
    file: 'ledger/decide.ts',
    find: 'if (open) return waitUntil(open.until);',
    replace: 'if (open && now < 0) return waitUntil(open.until);',
    modes: ['healthy'],
  },
  {
    name: 'lease without end',
    about: 'all processes wait for a process that died',
    file: 'ledger/attempt.ts',
    find: 'return !outcome && until > now;',
    replace: 'return !outcome && until > 0 * now;',
    modes: ['faults', 'feasible'],
    test: 'ledger/decide',
  },
  {
    name: 'every process for itself',
    about: 'tokens of other processes are not used',
    file: 'ledger/decide.ts',
    find: "if (fresh && !isRenewal && !cachedIsNewer) return { kind: 'use', token: stored };",
    replace:
      "if (fresh && stored.id === query.id && !isRenewal && !cachedIsNewer) return { kind: 'use', token: stored };",
    modes: ['healthy'],
  },
  {
    name: 'the first secret for ever',
    about: 'a changed secret is not read again',
    file: 'token/acquire-token.ts',
    find: 'const secret = await (mayIssue ? secrets.get() : secrets.last());',
    replace: 'const secret = await secrets.last();',
    modes: ['feasible', 'faults'],
  },
  {
    name: 'clones draw the same ids',
    about: 'random bytes contain no time, so processes that were resumed from one image of memory draw the same ids',
    file: 'platform/random-bytes.ts',
    find: '.map((byte, index) => byte ^ (time[index] as number))',
    replace: '.map((byte, index) => byte ^ ((time[index] as number) & 0))',
    modes: ['clones'],
  },
  {
    name: 'generations counted',
    about: 'generations do not follow the time, so that after a loss an old reset ends new tokens',
    file: 'ledger/journal.ts',
    find: 'let latest = now;',
    replace: 'let latest = 0 * now;',
    modes: ['flushed', 'wiped', 'split', 'failover'],
    test: 'ledger/decide',
  },
  {
    name: 'more is said than there is',
    about: '`getUsage()` says that one token more can be had',
    file: 'ledger/forecast.ts',
    find: 'return Math.min(...admission(record, now, limits, purpose).map(({ room }) => room));',
    replace: 'return 1 + Math.min(...admission(record, now, limits, purpose).map(({ room }) => room));',
    modes: ['faults'],
  },
  {
    name: 'only the first refusal is said',
    about: '`getUsage()` says that a caller is refused until the first reason ends, though there is another one',
    file: 'ledger/forecast.ts',
    find: 'const maxDenials = 50;',
    replace: 'const maxDenials = 1;',
    modes: ['faults', 'outages'],
    test: 'ledger/bound',
  },
];
