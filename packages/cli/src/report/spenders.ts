import { counted, grouped, table } from './text.ts';
import type { Issuance, Usage } from './usage.ts';

const reasons = ['cold', 'refresh', 'expired', 'rejected', 'reset'] as const;

/** Lists the instances and audiences that spent tokens, with their reasons. The greatest spenders come first. Only reasons that occur have a column. */
export function spenders(
  { issuances }: Usage,
  nameOf: (issuance: Issuance) => string,
  title: string,
  most: number,
  columns: number,
): string[] {
  const ranked = [...grouped(issuances, nameOf)].sort(([, a], [, b]) => b.length - a.length);
  const used = reasons.filter((reason) => issuances.some((issuance) => issuance.reason === reason));
  const countOf = (group: readonly Issuance[], reason: string) =>
    group.filter((issuance) => issuance.reason === reason).length;
  const rows = ranked
    .slice(0, most)
    .map(([name, group]) => [name, group.length, ...used.map((reason) => countOf(group, reason))]);
  const lines = table([[title, 'tokens', ...used], ...rows], columns);
  const rest = ranked.slice(most).flatMap(([, group]) => group);
  return rest.length === 0
    ? lines
    : [...lines, `and ${ranked.length - most} more with ${counted(rest.length, 'token')}`];
}
