import { counted, grouped, table } from './text.ts';
import type { Issuance, Usage } from './usage.ts';

const reasons = ['cold', 'refresh', 'expired', 'rejected', 'reset'] as const;

/** Lists the instances or audiences that spent tokens, with their reasons. The greatest spenders and the most frequent reasons come first. */
export function spenders(
  { issuances }: Usage,
  nameOf: (issuance: Issuance) => string,
  title: string,
  most: number,
  columns: number,
): string[] {
  const ranked = [...grouped(issuances, nameOf)].sort(([, a], [, b]) => b.length - a.length);
  const countOf = (group: readonly Issuance[], reason: string) =>
    group.filter((issuance) => issuance.reason === reason).length;
  const used = reasons
    .filter((reason) => countOf(issuances, reason) > 0)
    .sort((a, b) => countOf(issuances, b) - countOf(issuances, a));
  const rows = ranked
    .slice(0, most)
    .map(([name, group]) => [name, group.length, ...used.map((reason) => countOf(group, reason))]);
  const lines = table([[title, 'tokens', ...used], ...rows], columns);
  const rest = ranked.slice(most).flatMap(([, group]) => group);
  return rest.length === 0
    ? lines
    : [...lines, `and ${ranked.length - most} more with ${counted(rest.length, 'token')}`];
}
