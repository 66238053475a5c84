import { type Kind, label, type Shape, token } from './svg.ts';
import { words } from './words.ts';

const { reserve } = words;

const left = 4;
const pitch = 20;
const rows = 6;
const barHeight = 228;
const kinds: readonly Kind[] = ['here', 'shared', 'urgent', 'plain'];

/** The tokens of a limit, column by column, and below them what each part is for. */
function bar(top: number, title: string, tokens: readonly number[]): Shape[] {
  const cells = tokens.flatMap((count, part) => Array.from({ length: count }, () => kinds[part] ?? 'plain'));
  return [
    label([left, top + 16], title, { bold: true }),
    ...cells.map((kind, index) =>
      token([left + Math.floor(index / rows) * pitch, top + 28 + (index % rows) * pitch], kind),
    ),
    ...tokens.flatMap((count, part) => {
      const [x, y] = [left + (part % 2) * 250, top + 160 + Math.floor(part / 2) * 26];
      return [token([x, y], kinds[part] ?? 'plain'), label([x + 24, y + 13], `${count} ${reserve.parts[part]}`)];
    }),
  ];
}

/** A bar for each kind of store. */
export const reserveShapes: readonly Shape[] = reserve.bars.flatMap(({ title, tokens }, index) =>
  bar(index * barHeight, title, tokens),
);
