import { printable } from '../line/printable.ts';
import { allowance, becauseOf, waitsForAnother, whoIsRefused } from './availability.ts';
import { isUnbounded, isUnlimited, spentOf } from './sentences.ts';
import { clockTime, counted, countedBy, duration, zone } from './text.ts';
import type { Usage } from './usage.ts';

const states = ['OK', 'WARNING', 'CRITICAL'] as const;

/**
 * The line of a Nagios plug-in with its performance data, and the code of the state. `warn` and
 * `crit`: percent of the usable tokens. `concerns`:
 * why it is no better than WARNING, whatever the percentage is. `absent`: says that the store has
 * no record, which is no better than WARNING either: it may be the wrong store.
 * https://www.monitoring-plugins.org/doc/guidelines.html
 */
export function checkLine(
  usage: Usage,
  concerns: readonly string[],
  { warn, crit }: { readonly warn: number; readonly crit: number },
  now: number,
  absent?: string,
): { line: string; code: number } {
  const { used, usable, pending, availableNow, refusedUntil, newRecord } = usage;
  const unlimited = isUnlimited(usage);
  const percent = unlimited ? 0 : (used / usable) * 100;
  const isWarning = percent >= warn || concerns.length > 0 || absent !== undefined;
  const code = refusedUntil !== undefined || percent >= crit ? 2 : isWarning ? 1 : 0;
  const left = isUnbounded(usage) ? 'any number of tokens' : counted(availableNow, countedBy(usage));
  const isNew = newRecord ? `: the record is new, and allows ${allowance(usage, now)}` : '';
  const served = waitsForAnother(usage) ? 'the next request waits for one that is under way' : `${left} available now`;
  const room =
    refusedUntil === undefined
      ? `${served}${isNew}`
      : `${whoIsRefused(usage)} until ${clockTime(refusedUntil, now)} ${zone(refusedUntil)} (in ${duration(refusedUntil - now)}): ${becauseOf(usage, now)}`;
  const shareOf = (limit: number) => Math.round((limit / 100) * usable * 100) / 100;
  const data = unlimited
    ? [`used=${used};;;0`, `pending=${pending};;;0`]
    : [
        `used=${used};${shareOf(warn)};${shareOf(crit)};0;${usable}`,
        `pending=${pending};;;0;${usable}`,
        `available=${availableNow};;;0;${usable}`,
      ];
  const share = unlimited
    ? spentOf(usage)
    : `${Math.round(percent)}% of ${usable} usable ${countedBy(usage)}s spent (${used})`;
  const spent = `${share}, ${room}`;
  const summary = [...(absent === undefined ? [] : [absent]), spent, ...concerns].join('; ');
  // The bar separates the sentence from the performance data.
  return { line: `${states[code]} - ${printable(summary).replaceAll('|', '/')}|${data.join(' ')}`, code };
}
