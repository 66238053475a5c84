import { wrapped } from '../line/wrapped.ts';
import { type Colour, coloured, type Style } from './text.ts';

const labelWidth = 10;
/** In a terminal that is narrower, each label has a line of its own. */
const narrow = 60;
const indent = 2;

export function room({ columns }: Style): number {
  return columns - (columns < narrow ? indent : labelWidth);
}

export function paragraph(style: Style, text: string): string[] {
  return wrapped(text, room(style));
}

export function section(style: Style, label: string, lines: readonly string[], colour?: Colour): string[] {
  const body = lines.map((line) => (colour === undefined ? line : coloured(style, colour, line)));
  if (style.columns < narrow) return [coloured(style, 'cyan', label), ...body.map((line) => ' '.repeat(indent) + line)];
  return body.map((line, at) => {
    const head = coloured(style, 'cyan', (at === 0 ? label : '').padEnd(labelWidth));
    return `${head}${line}`.trimEnd();
  });
}
