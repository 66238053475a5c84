/** What a box stands for. `here`: this process. `shared`: the store. `bad`: no token, or nobody knows. `urgent`: a reset. */
export type Kind = 'plain' | 'here' | 'shared' | 'bad' | 'urgent';

type Colours = Readonly<Record<Kind, { readonly fill: string; readonly line: string }>> & {
  readonly text: string;
  readonly faint: string;
  readonly arrow: string;
};

/** The colours of a light and of a dark page. */
const themes: Readonly<Record<'light' | 'dark', Colours>> = {
  light: {
    text: '#1f2328',
    faint: '#59636e',
    arrow: '#6e7781',
    plain: { fill: '#f6f8fa', line: '#8c959f' },
    here: { fill: '#dafbe1', line: '#0b6b4f' },
    shared: { fill: '#ddf4ff', line: '#0969da' },
    bad: { fill: '#ffebe9', line: '#c2362b' },
    urgent: { fill: '#8250df', line: '#8250df' },
  },
  dark: {
    text: '#f0f6fc',
    faint: '#9da5ae',
    arrow: '#9da5ae',
    plain: { fill: '#21262d', line: '#8b949e' },
    here: { fill: '#12352c', line: '#58d3a8' },
    shared: { fill: '#12294a', line: '#79c0ff' },
    bad: { fill: '#43191a', line: '#ff7b72' },
    urgent: { fill: '#d2a8ff', line: '#d2a8ff' },
  },
};

export type Theme = keyof typeof themes;
export const themeNames: readonly Theme[] = ['light', 'dark'];

/** A part of a drawing. */
export type Shape = (colours: Colours) => string;

type Point = readonly [x: number, y: number];

const lineHeight = 20;

/** A box with lines of text in its middle. The first line is bold if there are more. */
export function box([x, y]: Point, [width, height]: Point, kind: Kind, lines: readonly string[]): Shape {
  const top = y + height / 2 - ((lines.length - 1) * lineHeight) / 2 + 5;
  return (colours) => {
    const { fill, line } = colours[kind];
    const texts = lines.map((text, index) => {
      const weight = index === 0 && lines.length > 1 ? ' font-weight="600"' : '';
      return `<text x="${x + width / 2}" y="${top + index * lineHeight}" text-anchor="middle" fill="${colours.text}"${weight}>${escaped(text)}</text>`;
    });
    const shape = `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="8" fill="${fill}" stroke="${line}" stroke-width="1.5"/>`;
    return [shape, ...texts].join('\n  ');
  };
}

/** A line through points, with a head at its end. */
export function arrow(...points: readonly Point[]): Shape {
  const [end = [0, 0], before = [0, 0]] = points.toReversed();
  const angle = (Math.atan2(end[1] - before[1], end[0] - before[0]) * 180) / Math.PI;
  const line = points.map((point) => point.join(' ')).join('L');
  return ({ arrow: colour }) =>
    `<path d="M${line}" fill="none" stroke="${colour}" stroke-width="1.5"/>\n  <path d="M0 0-9-5v10z" transform="translate(${end.join(' ')}) rotate(${angle})" fill="${colour}"/>`;
}

/** A line of text. `faint`: it explains what stands beside it. */
export function label(
  [x, y]: Point,
  text: string,
  { faint = false, bold = false, anchor = 'start' }: { faint?: boolean; bold?: boolean; anchor?: string } = {},
): Shape {
  const weight = bold ? ' font-weight="600"' : '';
  return (colours) =>
    `<text x="${x}" y="${y}" text-anchor="${anchor}" fill="${faint ? colours.faint : colours.text}"${weight}>${escaped(text)}</text>`;
}

/** One token: a square. One of unknown outcome has a mark, because colours alone say nothing to many readers. */
export function token([x, y]: Point, kind: Kind): Shape {
  return (colours) => {
    const { fill, line } = colours[kind];
    const square = `<rect x="${x}" y="${y}" width="16" height="16" rx="3" fill="${fill}" stroke="${line}" stroke-width="1.5"/>`;
    if (kind !== 'bad') return square;
    return `${square}\n  <text x="${x + 8}" y="${y + 13}" text-anchor="middle" font-size="13" fill="${line}">?</text>`;
  };
}

/** A line across a drawing. */
export function rule(from: Point, to: Point): Shape {
  return ({ plain }) =>
    `<path d="M${from.join(' ')}L${to.join(' ')}" stroke="${plain.line}" stroke-opacity="0.5" fill="none"/>`;
}

/** A drawing in the colours of one theme. It is narrow, so that a phone can show it. */
export function drawing(title: string, [width, height]: Point, shapes: readonly Shape[], theme: Theme): string {
  const parts = shapes.map((shape) => `  ${shape(themes[theme])}`);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" font-family="system-ui, sans-serif" font-size="15">
  <title>${escaped(title)}</title>
${parts.join('\n')}
</svg>
`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
