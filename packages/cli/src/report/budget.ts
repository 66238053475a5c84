import { bar, signs } from './bar.ts';
import { paragraph, room } from './section.ts';
import { heldBack, isUnlimited, keptForResets, leftIn } from './sentences.ts';
import { counted, countedBy, type Style, windowName } from './text.ts';
import type { Usage } from './usage.ts';

/** How much of the limit is spent, left and held back: a bar, and what it shows in words. */
export function budget(usage: Usage, style: Style): string[] {
  const { windows, usable, used, pending, underWay, unknown, windowMs } = usage;
  const left = leftIn(usage);
  const kept = keptForResets(usage);
  const open = [
    ...(underWay > 0 ? [`${underWay} under way`] : []),
    ...(unknown > 0 ? [`${unknown} of unknown outcome`] : []),
  ];
  const counts = [
    `${signs.issued} ${used - pending} ${usage.counts ? 'answered' : 'issued'}`,
    ...(pending > 0 ? [`${signs.pending} ${pending} pending (${open.join(', ')})`] : []),
  ];
  if (isUnlimited(usage)) {
    const sentence = `${counted(used, 'token')} spent in ${windowName(windowMs)}. There is no limit.`;
    return [...paragraph(style, sentence), ...paragraph(style, counts.join('  '))];
  }
  const parts = [
    ...counts,
    `${signs.left} ${left} left${kept > 0 ? ` (${kept} of them for resets of leaked tokens)` : ''}`,
    ...heldBack(usage, style.now).map((part) => `${signs.keptBack} ${part}`),
  ];
  const others = windows.length > 1 ? windows.filter(({ tokens }) => !isUnlimited({ limit: tokens })) : [];
  return [
    bar(usage, Math.min(60, room(style)), style),
    ...paragraph(
      style,
      `${used} of ${counted(usable, `usable ${countedBy(usage)}`)} spent in ${windowName(windowMs)}.${whatCounts(usage)}${isKept(usage)}`,
    ),
    ...paragraph(style, parts.join('  ')),
    ...others.flatMap((window) => paragraph(style, windowSentence(window, windows))),
  ];
}

function whatCounts({ counts }: Usage): string {
  return counts ? ' The provider counts requests, refused ones too.' : '';
}

function isKept({ enforce }: Pick<Usage, 'enforce'>): string {
  return enforce === false ? ' The limit is not enforced.' : '';
}

function windowSentence(
  { tokens, counts, windowMs, used, usable, own, enforce }: Usage['windows'][number],
  all: Usage['windows'],
): string {
  // A reader states no limit of its own.
  const whose =
    own || !all.some((window) => window.own)
      ? ''
      : '; only another process states this limit, and it is kept all the same';
  return `${tokens}${counts ? ' requests' : ''} in ${windowName(windowMs)}: ${used} of ${usable} spent${whose}.${isKept({ enforce })}`;
}
