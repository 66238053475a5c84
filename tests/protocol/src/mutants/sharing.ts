import type { Mutant } from './mutant.ts';

/** Mutants of the rules for who asks, who waits, and when a fleet tries again. */
export const sharingMutants: readonly Mutant[] = [
  {
    name: 'lease ignored',
    about: 'every process without a token asks',
    file: 'ledger/decide.ts',
    find: 'if (state.lease && state.lease.until > now) {',
    replace: 'if (state.lease && state.lease.until < 0) {',
    modes: ['healthy'],
  },
  {
    name: 'lease without end',
    about: 'all processes wait for a process that died',
    file: 'ledger/decide.ts',
    find: 'if (state.lease && state.lease.until > now) {',
    replace: 'if (state.lease) {',
    modes: ['faults', 'feasible'],
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
    name: 'Retry-After ignored',
    about: 'the fleet keeps asking after a 429',
    file: 'ledger/holds.ts',
    find: 'until: rateLimit?.retryAt ?? 0,',
    replace: 'until: 0,',
    modes: ['feasible', 'faults'],
  },
  {
    name: 'no back-off',
    about: 'failures cause no pause',
    file: 'ledger/pauses.ts',
    find: 'until: probeAt ?? retryAt,',
    replace: 'until: 0 * (probeAt ?? retryAt),',
    modes: ['faults', 'feasible'],
  },
  {
    name: 'failures are never forgiven',
    about: 'a back-off does not end at its deadline',
    file: 'ledger/pauses.ts',
    find: 'until: probeAt ?? retryAt,',
    replace: 'until: probeAt ?? retryAt * 2,',
    modes: ['faults', 'feasible'],
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
    file: 'record/seal.ts',
    find: '.map((byte, index) => byte ^ (time[index] as number))',
    replace: '.map((byte, index) => byte ^ ((time[index] as number) & 0))',
    modes: ['clones'],
  },
  {
    name: 'generations counted',
    about: 'generations do not follow the time, so that after a loss an old reset ends new tokens',
    file: 'ledger/generations.ts',
    find: 'Math.max(now, ...known)',
    replace: 'Math.max(0, ...known)',
    modes: ['flushed', 'wiped', 'split', 'failover'],
  },
];
