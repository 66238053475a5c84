import { clockTime, counted, duration } from './text.ts';
import type { Usage } from './usage.ts';

export interface Thresholds {
  /** Percent of the usable tokens. */
  readonly warn: number;
  readonly crit: number;
}

const states = ['OK', 'WARNING', 'CRITICAL'] as const;

/**
 * The line of a Nagios plug-in with its performance data, and the code of the state.
 * https://www.monitoring-plugins.org/doc/guidelines.html
 */
export function checkLine(usage: Usage, { warn, crit }: Thresholds, now: number): { line: string; code: number } {
  const { used, usable, pending, availableNow, refusedUntil, refusedBecause } = usage;
  const percent = (used / usable) * 100;
  const code = refusedUntil !== undefined || percent >= crit ? 2 : percent >= warn ? 1 : 0;
  const now_ =
    refusedUntil === undefined
      ? `${counted(availableNow, 'token')} available now`
      : `callers without a token are refused until ${clockTime(refusedUntil, now)} (in ${duration(refusedUntil - now)}; ${refusedBecause ?? 'limit'})`;
  const shareOf = (limit: number) => Math.round((limit / 100) * usable * 100) / 100;
  const data = [
    `used=${used};${shareOf(warn)};${shareOf(crit)};0;${usable}`,
    `pending=${pending};;;0;${usable}`,
    `available=${availableNow};;;0;${usable}`,
  ];
  const summary = `${Math.round(percent)}% of ${usable} usable tokens spent (${used}), ${now_}`;
  return { line: `${states[code]} - ${summary}|${data.join(' ')}`, code };
}
