// Draws two panels of the dashboard, of the fleet that `record.ts` recorded:
//
//   node tests/observability/picture.ts
import { readFileSync, writeFileSync } from 'node:fs';
import { type Recording, recordingFile, stepSeconds } from './recording.ts';

const folder = new URL('../../docs/observability/', import.meta.url);
const themes = {
  light: { text: '#1f2328', faint: '#59636e', band: '#eaeef2', colours: ['#1f9d6b', '#bb8009', '#c8d1da', '#0969da'] },
  dark: { text: '#f0f6fc', faint: '#9198a1', band: '#262c36', colours: ['#46b98a', '#d29922', '#3d444d', '#4493f8'] },
} as const;
// A phone shows the picture 342 pixels wide. Its smallest type has 11 pixels there.
const [width, plotHeight, fontSize] = [400, 110, 13];

interface Line {
  readonly name: string;
  readonly values: readonly number[];
}

const { phases, series } = JSON.parse(readFileSync(recordingFile, 'utf8')) as Recording;
const steps = Math.max(...phases.map(({ over }) => over)) + 1;

/** The values that a series has at each step, from the notation of promtool. */
function valuesOf(notation: string): (number | undefined)[] {
  return notation.split(' ').flatMap((part) => {
    const [, value = '', , count = '0'] = /^(stale|_|[\d.]+|Inf)(\+0)?x?(\d+)?$/.exec(part) ?? [];
    if (value === '_') return Array.from<undefined>({ length: Number(count || 1) });
    return Array.from({ length: Number(count) + 1 }, () => (value === 'stale' ? undefined : Number(value)));
  });
}

/** What `max by (label)` of a metric shows. */
function maximaOf(metric: string, label: string): Line[] {
  const byName = new Map<string, number[]>();
  for (const [key, notation] of Object.entries(series).filter(([key]) => key.startsWith(`${metric}{`))) {
    const name = new RegExp(`${label}="([^"]*)"`).exec(key)?.[1] ?? '';
    const most = byName.get(name) ?? Array.from({ length: steps }, () => 0);
    for (const [step, value] of valuesOf(notation).slice(0, steps).entries())
      most[step] = Math.max(most[step] ?? 0, value ?? 0);
    byName.set(name, most);
  }
  return [...byName]
    .map(([name, values]) => ({ name, values }))
    .filter(({ values }) => values.some((value) => value > 0));
}

const usage = maximaOf('service_auth_budget_usage', 'state');
const order = ['issued', 'pending', 'left', 'kept_back'];
const budget = usage.toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
const holds = maximaOf('service_auth_hold_remaining', 'hold');

const x = (step: number) => ((step * width) / (steps - 1)).toFixed(1);
const pathOf = (values: readonly number[], y: (value: number) => string) =>
  values.map((value, step) => `${step === 0 ? 'M' : 'L'}${x(step)} ${y(value)}`).join('');

function panel(title: string, lines: readonly Line[], isStacked: boolean, top: number, theme: keyof typeof themes) {
  const { text, faint, band, colours } = themes[theme];
  const sums = lines.map((_, index) =>
    Array.from({ length: steps }, (__, step) =>
      lines.slice(0, index + 1).reduce((sum, line) => sum + (line.values[step] ?? 0), 0),
    ),
  );
  const shown = isStacked ? sums : lines.map(({ values }) => values);
  const most = Math.max(...shown.flat());
  const y = (value: number) => (top + 24 + plotHeight - (plotHeight * value) / most).toFixed(1);
  const colourOf = (index: number) => colours[index % colours.length] ?? text;
  const bands = phases.map(
    ({ from, to }) =>
      `<rect x="${x(from)}" y="${top + 24}" width="${(Number(x(to)) - Number(x(from))).toFixed(1)}" height="${plotHeight}" fill="${band}"/>`,
  );
  const drawn = shown.map((values, index) =>
    isStacked
      ? `<path d="${pathOf(values, y)}L${width} ${y(0)}L0 ${y(0)}Z" fill="${colourOf(index)}"/>`
      : `<path d="${pathOf(values, y)}" fill="none" stroke="${colourOf(index)}" stroke-width="2"/>`,
  );
  if (isStacked) drawn.reverse();
  const key = lines.map((line, index) => {
    const left = (index % 2) * (width / 2);
    const base = top + 24 + plotHeight + 18 + Math.floor(index / 2) * 18;
    return `<rect x="${left}" y="${base - 9}" width="10" height="10" fill="${colourOf(index)}"/><text x="${left + 16}" y="${base}" fill="${text}">${line.name}</text>`;
  });
  const bottom = top + 24 + plotHeight + 18 * Math.ceil(lines.length / 2) + 12;
  const heading = `<text x="0" y="${top + 14}" fill="${text}" font-weight="600">${title}</text><text x="${width}" y="${top + 14}" text-anchor="end" fill="${faint}">0 to ${Math.ceil(most)}</text>`;
  return { svg: [heading, ...(isStacked ? drawn : [...bands, ...drawn]), ...key].join('\n  '), bottom };
}

for (const theme of ['light', 'dark'] as const) {
  const first = panel('Budget: tokens, by state', budget, true, 0, theme);
  const second = panel('Holds: seconds, by hold', holds, false, first.bottom, theme);
  const { faint } = themes[theme];
  const said = [
    `${Math.round((steps * stepSeconds) / 60)} minutes of a fleet with a limit of 40 tokens a minute.`,
    'Grey: two records, an endpoint that fails, an API',
    'that rejects every token, and a waste of tokens.',
  ];
  const notes = said.map(
    (line, index) => `<text x="0" y="${second.bottom + 14 + index * 18}" fill="${faint}">${line}</text>`,
  );
  const height = second.bottom + 14 + said.length * 18 - 8;
  writeFileSync(
    new URL(`dashboard-${theme}.svg`, folder),
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="480" height="${Math.round(height * 1.2)}" role="img" font-family="system-ui, sans-serif" font-size="${fontSize}">
  <title>Two panels of the dashboard</title>
  ${[first.svg, second.svg, ...notes].join('\n  ')}
</svg>
`,
  );
}
