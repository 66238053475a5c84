import type { FleetPicture, Picture } from './picture.ts';

/** The colours of a drawing, for a light and for a dark page. */
const themes = {
  light: {
    text: '#1f2328',
    faint: '#59636e',
    line: '#c9ced6',
    used: '#0f8a63',
    left: '#9aa7b4',
    rejected: '#c2362b',
    mark: '#ffffff',
  },
  dark: {
    text: '#f0f6fc',
    faint: '#9198a1',
    line: '#45474f',
    used: '#2fb98a',
    left: '#68737f',
    rejected: '#e2574b',
    mark: '#1b1b1f',
  },
} as const;

export type Theme = keyof typeof themes;

export const themeNames: readonly Theme[] = ['light', 'dark'];

const columns = 25;
const font = 'font-family="system-ui, \'DejaVu Sans\', sans-serif"';

/** Draws the tokens of both fleets beside each other, for pages outside the site. A phone can read it at 342 pixels. */
export function budgetDrawing({ ours, naive, limit }: Picture, theme: Theme): string {
  const fleets = [
    panel('With Service Auth', ours, limit, theme, 14, 25),
    `<g transform="translate(386 0)">${panel('Without', naive, limit, theme, 14, 25)}</g>`,
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 224" width="760" height="224" role="img" ${font}>
<title>${ours.spent} of ${limit} tokens with Service Auth, ${naive.spent} of ${limit} without</title>
${fleets.join('\n')}
</svg>
`;
}

/** Draws what other sites show beside a link to this one: 1200 by 630 pixels. */
export function cardDrawing({ ours, naive, limit }: Picture): string {
  const { text, faint, used } = themes.light;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1200 630" width="1200" height="630" ${font}>
<title>Service Auth: one OAuth token for all your processes</title>
<rect width="1200" height="630" fill="#ffffff"/>
<rect width="1200" height="16" fill="${used}"/>
<text x="64" y="100" font-size="36" font-weight="600" fill="${used}">Service Auth</text>
<text x="64" y="180" font-size="60" font-weight="700" fill="${text}">One OAuth token for all your</text>
<text x="64" y="250" font-size="60" font-weight="700" fill="${text}">processes</text>
<g transform="translate(64 286)">${panel('With Service Auth', ours, limit, 'light', 18, 32)}</g>
<g transform="translate(640 286)">${panel('Without', naive, limit, 'light', 18, 32)}</g>
<text x="64" y="594" font-size="26" font-family="ui-monospace, 'DejaVu Sans Mono', monospace" fill="${faint}">attachServiceAuth(api, createServiceAuthFromEnv(process.env))</text>
</svg>
`;
}

/** A fleet: its name, its count, a square for each token, and whether its provider let it down. */
function panel(name: string, fleet: FleetPicture, limit: number, theme: Theme, pitch: number, size: number): string {
  const colours = themes[theme];
  const { spent, slots, lockedOutAt } = fleet;
  const top = size * 2.9;
  const squares = Array.from({ length: limit }, (_, index) => {
    const state = slots[index]?.state;
    const fill = state === undefined || state === 'expired' ? 'none' : colours[state];
    const x = (index % columns) * pitch + 1;
    const y = top + Math.floor(index / columns) * pitch;
    const edge = pitch - 3;
    const square = `<rect x="${x}" y="${y}" width="${edge}" height="${edge}" rx="2" fill="${fill}" stroke="${fill === 'none' ? colours.line : fill}"/>`;
    const [near, far] = [pitch / 4, edge - pitch / 4];
    const cross = `<path d="M${x + near} ${y + near}L${x + far} ${y + far}M${x + far} ${y + near}L${x + near} ${y + far}" stroke="${colours.mark}"/>`;
    return state === 'rejected' ? square + cross : square;
  });
  const below = top + Math.ceil(limit / columns) * pitch + size * 1.2;
  const hour = (lockedOutAt ?? 0) / 3_600_000;
  const clock = `${Math.floor(hour)}:${`${Math.floor((hour % 1) * 60)}`.padStart(2, '0')}`;
  const end =
    lockedOutAt === undefined
      ? ['No token was refused', colours.faint]
      : [`Locked out since ${clock}`, colours.rejected];
  return [
    `<text x="0" y="${size}" font-size="${size}" font-weight="600" fill="${colours.text}">${name}</text>`,
    `<text x="0" y="${size * 2.3}" font-size="${size}" fill="${colours.text}">${spent} of ${limit} tokens spent</text>`,
    ...squares,
    `<text x="0" y="${below}" font-size="${size}" fill="${end[1]}">${end[0]}</text>`,
  ].join('\n');
}
