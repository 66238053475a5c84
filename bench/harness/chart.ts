import type { Chart, Kind } from './answer.ts';

export type Theme = 'light' | 'dark';

/** Colours of a picture, for a light and for a dark page. */
const themes: Readonly<Record<Theme, Readonly<Record<Kind | 'text' | 'faint' | 'line', string>>>> = {
  light: {
    text: '#1f2328',
    faint: '#59636e',
    line: '#d1d9e0',
    ours: '#0969da',
    limit: '#afb8c1',
    handwritten: '#8c959f',
    peer: '#d4a72c',
  },
  dark: {
    text: '#f0f6fc',
    faint: '#9198a1',
    line: '#3d444d',
    ours: '#4493f8',
    limit: '#656c76',
    handwritten: '#8b949e',
    peer: '#bb8009',
  },
};

export const themeNames: readonly Theme[] = ['light', 'dark'];

const width = 760;
const nameWidth = 300;
const labelWidth = 70;
const rowHeight = 22;
const headHeight = 34;

/** Horizontal bars with a whisker from the least to the most that was measured. */
export function svgOf({ title, logarithmic, bars }: Chart, theme: Theme): string {
  const colours = themes[theme];
  const room = width - nameWidth - labelWidth;
  const most = Math.max(...bars.map(({ value }) => value.median));
  const least = Math.min(...bars.map(({ value }) => value.median));
  // On a logarithmic scale the shortest bar still has a length.
  const position = logarithmic
    ? (value: number) => (Math.log10(value / least) + 0.3) / (Math.log10(most / least) + 0.3)
    : (value: number) => value / most;
  const x = (value: number) => nameWidth + room * Math.min(1.02, Math.max(0, position(value)));

  const rows = bars.map(({ name, kind, value, label }, index) => {
    const top = headHeight + index * rowHeight;
    const middle = top + rowHeight / 2;
    const weight = kind === 'ours' ? ' font-weight="600"' : '';
    return [
      `<text x="${nameWidth - 8}" y="${middle + 4}" text-anchor="end" fill="${colours.text}"${weight}>${escaped(name)}</text>`,
      `<rect x="${nameWidth}" y="${top + 4}" width="${round(x(value.median) - nameWidth)}" height="${rowHeight - 8}" rx="2" fill="${colours[kind]}"/>`,
      `<line x1="${round(x(value.min))}" x2="${round(x(Math.min(value.max, most)))}" y1="${middle}" y2="${middle}" stroke="${colours.faint}"/>`,
      `<text x="${round(x(Math.max(value.median, Math.min(value.max, most))) + 8)}" y="${middle + 4}" fill="${colours.faint}">${escaped(label)}</text>`,
    ].join('\n  ');
  });
  const height = headHeight + bars.length * rowHeight + 8;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" font-family="system-ui, sans-serif" font-size="12">
  <title>${escaped(title)}</title>
  <text x="0" y="18" fill="${colours.text}" font-size="14" font-weight="600">${escaped(title)}</text>${logarithmic ? `\n  <text x="${width}" y="18" text-anchor="end" fill="${colours.faint}">logarithmic scale</text>` : ''}
  <line x1="${nameWidth}" x2="${nameWidth}" y1="${headHeight}" y2="${height - 8}" stroke="${colours.line}"/>
  ${rows.join('\n  ')}
</svg>
`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
