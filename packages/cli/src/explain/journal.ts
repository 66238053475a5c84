import { minute } from '../line/units.ts';
import { counted, grouped, windowName } from '../report/text.ts';
import type { Issuance, Usage } from '../report/usage.ts';
import { isPartial } from '../report/whose.ts';

/** Fewer of them are no pattern, unless the limit is so low that they are half of it. */
export function few({ usable }: Usage): number {
  return usable <= 4 ? 2 : 3;
}

/** The record lists the newest issuances one by one, and of older ones the number only. */
export function spentIn(usage: Usage): string {
  const { issuances, windowMs } = usage;
  return `of the ${isPartial(usage) ? 'newest ' : ''}${counted(issuances.length, 'token')} of the last ${windowName(windowMs)}`;
}

export interface Step {
  readonly issuance: Issuance;
  /** The time since the one before. Undefined: it is the first. */
  readonly afterMs: number | undefined;
}

/**
 * Each issuance with the time since the one before it for the same audience. The oldest comes
 * first. Pending ones brought no token, so they are left out.
 */
export function stepsOf({ issuances }: Usage): Step[] {
  const oldestFirst = issuances.filter(({ pending }) => !pending).reverse();
  return [...grouped(oldestFirst, ({ audience }) => audience).values()]
    .flatMap((group) =>
      group.map((issuance, at) => {
        const before = group[at - 1];
        return { issuance, afterMs: before && issuance.at - before.at };
      }),
    )
    .sort((a, b) => a.issuance.at - b.issuance.at);
}

/** The usual time between neighbours, in milliseconds. Undefined: there are fewer than three. */
export function usualIntervalMs(issuances: readonly Issuance[]): number | undefined {
  if (issuances.length < 3) return undefined;
  const instants = issuances.map(({ at }) => at).sort((a, b) => a - b);
  const intervals = instants.slice(1).map((at, index) => at - (instants[index] ?? at));
  return median(intervals);
}

/** The lifetime of the tokens in use, of one audience or of all. Undefined: none is in use. */
export function lifetimeMs({ tokens }: Usage, audience?: string): number | undefined {
  const lifetimes = tokens
    .filter((token) => audience === undefined || token.audience === audience)
    .map(({ issuedAt, expiresAt }) => expiresAt - issuedAt)
    .filter((ms) => ms > minute);
  return lifetimes.length === 0 ? undefined : median(lifetimes);
}

/** The renewals of tokens that died: the API had accepted them. */
export function deathsIn(usage: Usage): (Step & { readonly afterMs: number })[] {
  return stepsOf(usage).filter((step): step is Step & { readonly afterMs: number } => {
    return step.issuance.died === true && step.afterMs !== undefined;
  });
}

/** The usual time for which a token lived that died. Undefined: none did. */
export function usualLifeMs(deaths: readonly { readonly afterMs: number }[]): number | undefined {
  return deaths.length === 0 ? undefined : median(deaths.map(({ afterMs }) => afterMs));
}

function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
