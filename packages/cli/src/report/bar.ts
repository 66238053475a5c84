import { leftIn } from './sentences.ts';
import { type Colour, coloured, type Style } from './text.ts';
import type { Usage } from './usage.ts';

/** The signs of the parts of a bar. They differ, because not everybody sees colours. */
export const signs = { issued: '█', pending: '▓', left: '░', keptBack: '·' } as const;

/** The budget as a bar. Even a single token of a part has a place, so that it is seen. */
export function bar(usage: Usage, columns: number, style: Style): string {
  const { limit, usable, used, pending } = usage;
  const left = leftIn(usage);
  const share = used / usable;
  const colour: Colour = share >= 0.95 ? 'red' : share >= 0.8 ? 'yellow' : 'green';
  const parts: readonly (readonly [count: number, sign: string, colour: Colour])[] = [
    [used - pending, signs.issued, colour],
    [pending, signs.pending, 'yellow'],
    [left, signs.left, 'dim'],
    [Math.max(0, limit - used - left), signs.keptBack, 'dim'],
  ];
  const widths = places(
    parts.map(([count]) => count),
    columns,
  );
  return parts.map(([, sign, colour], at) => coloured(style, colour, sign.repeat(widths[at] ?? 0))).join('');
}

/** Divides places among counts. Nothing that counts goes without one. */
export function places(counts: readonly number[], columns: number): number[] {
  const sum = counts.reduce((all, count) => all + count, 0);
  if (sum === 0) return counts.map(() => 0);
  const widths = counts.map((count) => (count === 0 ? 0 : Math.max(1, Math.round((count / sum) * columns))));
  const largest = widths.indexOf(Math.max(...widths));
  const surplus = widths.reduce((all, width) => all + width, 0) - columns;
  return widths.map((width, at) => (at === largest ? Math.max(1, width - surplus) : width));
}
