import type { Chart, Kind } from './answer.ts';

export type Theme = 'light' | 'dark';

/** Colours of a picture, for a light and for a dark page. */
const themes: Readonly<Record<Theme, Readonly<Record<Kind | 'text' | 'faint', string>>>> = {
  light: {
    text: '#1f2328',
    faint: '#59636e',
    ours: '#0969da',
    limit: '#afb8c1',
    handwritten: '#8c959f',
    peer: '#d4a72c',
  },
  dark: {
    text: '#f0f6fc',
    faint: '#9198a1',
    ours: '#4493f8',
    limit: '#656c76',
    handwritten: '#8b949e',
    peer: '#bb8009',
  },
};

export const themeNames: readonly Theme[] = ['light', 'dark'];

// A phone shows the picture 342 pixels wide. Its smallest type has 11 pixels there.
const width = 400;
const shownWidth = 480;
const fontSize = 13;
const titleSize = 15;
const titleLine = 20;
const rowHeight = 38;

/** Horizontal bars below their names, with a whisker from the least to the most that was measured. */
export function svgOf({ title, logarithmic, bars }: Chart, theme: Theme): string {
  const colours = themes[theme];
  const most = Math.max(...bars.map(({ value }) => value.median));
  const least = Math.min(...bars.map(({ value }) => value.median));
  // On a logarithmic scale the shortest bar still has a length.
  const position = logarithmic
    ? (value: number) => (Math.log10(value / least) + 0.3) / (Math.log10(most / least) + 0.3)
    : (value: number) => value / most;
  const x = (value: number) => width * Math.min(1, Math.max(0, position(value)));

  const heads = wrapped(title, 44).map(
    (line, index) =>
      `<text x="0" y="${(index + 0.75) * titleLine}" fill="${colours.text}" font-size="${titleSize}" font-weight="600">${escaped(line)}</text>`,
  );
  if (logarithmic) {
    const y = (heads.length + 0.75) * titleLine;
    heads.push(`<text x="0" y="${y}" fill="${colours.faint}">logarithmic scale</text>`);
  }
  const headHeight = heads.length * titleLine + 8;
  const rows = bars.map(({ name, kind, value, label }, index) => {
    const top = headHeight + index * rowHeight;
    const middle = top + 25;
    const weight = kind === 'ours' ? ' font-weight="600"' : '';
    return [
      `<text x="0" y="${top + 14}" fill="${colours.text}"${weight}>${escaped(name)}</text>`,
      `<text x="${width - 2}" y="${top + 14}" text-anchor="end" fill="${colours.faint}">${escaped(label)}</text>`,
      `<rect x="0" y="${middle - 5}" width="${round(x(value.median))}" height="10" rx="2" fill="${colours[kind]}"/>`,
      `<line x1="${round(x(value.min))}" x2="${round(x(value.max))}" y1="${middle}" y2="${middle}" stroke="${colours.faint}"/>`,
    ].join('\n  ');
  });
  const height = headHeight + bars.length * rowHeight;
  const shownHeight = Math.round((height * shownWidth) / width);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${shownWidth}" height="${shownHeight}" role="img" font-family="system-ui, sans-serif" font-size="${fontSize}">
  <title>${escaped(title)}</title>
  ${[...heads, ...rows].join('\n  ')}
</svg>
`;
}

/** Breaks a text between words, into lines of at most so many characters. */
function wrapped(text: string, most: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = `${lines.at(-1)} ${word}`.trim();
    if (line.length > most) lines.push(word);
    else lines[lines.length - 1] = line;
  }
  return lines;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
