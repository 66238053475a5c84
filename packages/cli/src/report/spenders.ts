import { counted, ranked, table } from './text.ts';
import type { Issuance, Usage } from './usage.ts';

const reasons = ['cold', 'refresh', 'expired', 'rejected', 'reset'] as const;

/** What each reason of a token means. */
export const meanings: Readonly<Record<(typeof reasons)[number], string>> = {
  cold: 'a program found no token that it could use',
  refresh: 'a renewal ahead of expiry',
  expired: 'the token before had expired',
  rejected: 'the API answered 401 to the token before',
  reset: 'the token before was reset',
};

export function legend({ issuances }: Usage): string {
  const found = reasons.filter((reason) => issuances.some((issuance) => issuance.reason === reason));
  return `${found.map((reason) => `${reason}: ${meanings[reason]}`).join('; ')}.`;
}

/** Lists who spent tokens, with the reasons. The greatest and most frequent ones come first. */
export function spenders(
  { issuances }: Usage,
  nameOf: (issuance: Issuance) => string,
  title: string,
  most: number,
  columns: number,
): string[] {
  const groups = ranked(issuances, nameOf);
  const countOf = (group: readonly Issuance[], reason: string) =>
    group.filter((issuance) => issuance.reason === reason).length;
  const used = reasons
    .filter((reason) => countOf(issuances, reason) > 0)
    .sort((a, b) => countOf(issuances, b) - countOf(issuances, a));
  const rows = groups
    .slice(0, most)
    .map(([name, group]) => [name, group.length, ...used.map((reason) => countOf(group, reason))]);
  const lines = table([[title, 'tokens', ...used], ...rows], columns);
  const rest = groups.slice(most).flatMap(([, group]) => group);
  return rest.length === 0
    ? lines
    : [...lines, `and ${groups.length - most} more with ${counted(rest.length, 'token')}`];
}
