import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { escaped } from './chart.ts';

/** The colours of a terminal. */
export interface Theme {
  readonly name: 'light' | 'dark';
  readonly background: string;
  readonly foreground: string;
  /** The colours, by the code of SGR. */
  readonly colours: Readonly<Record<string, string>>;
}

export const themes: readonly Theme[] = [
  {
    name: 'light',
    background: '#ffffff',
    foreground: '#1f2328',
    colours: { 31: '#cf222e', 32: '#1a7f37', 33: '#9a6700', 36: '#0969da' },
  },
  {
    name: 'dark',
    background: '#0d1117',
    foreground: '#e6edf3',
    colours: { 31: '#ff7b72', 32: '#3fb950', 33: '#d29922', 36: '#79c0ff' },
  },
];

/** The width of the terminal in which programs print. */
export const columns = 92;
export const terminalEnv: NodeJS.ProcessEnv = { ...process.env, TERM: 'xterm-256color', NO_COLOR: undefined };

/** The arguments of `script`, of util-linux, that run a line of a shell in a terminal. */
export function scriptOf(line: string): string[] {
  return ['--quiet', '--command', `stty cols ${columns} rows 60; ${line}`, '/dev/null'];
}

const folder = fileURLToPath(new URL('../../docs/command-line/', import.meta.url));

/** Writes a picture in each theme to `docs/command-line`. */
export function writePictures(name: string, command: string, printed: string, seconds?: readonly number[]): void {
  mkdirSync(folder, { recursive: true });
  for (const theme of themes)
    writeFileSync(`${folder}${name}-${theme.name}.svg`, terminalPicture(command, printed, theme, seconds));
}

const charWidth = 8.4;
const lineHeight = 19;
const margin = 16;

/**
 * Draws a text with codes of SGR. Each piece of text has its own place and width, so that columns stay columns in every font. A piece has no spaces but
 * single ones between its words, because browsers disagree on whether `xml:space` or `white-space` keeps the others. `seconds`: when each line was
 * printed, for a picture that shows the lines one after the other.
 */
export function terminalPicture(command: string, printed: string, theme: Theme, seconds?: readonly number[]): string {
  const lines = [`$ ${command}`, ...printed.trimEnd().split('\n')];
  const runs = lines.map(runsOf);
  const longest = Math.max(...runs.map((line) => line.reduce((sum, { text }) => sum + text.length, 0)));
  const width = Math.ceil(longest * charWidth + 2 * margin);
  const height = lines.length * lineHeight + 2 * margin;
  const texts = runs.flatMap((line, row) => {
    const pieces = textsOf(line, margin + (row + 0.75) * lineHeight, theme);
    const second = row === 0 ? 0 : (seconds?.[row - 1] ?? 0);
    return second > 0 ? [`<g style="animation-delay:${second.toFixed(1)}s">`, ...pieces, '</g>'] : pieces;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escaped(command)}</title>
${seconds ? recorded : ''}<rect width="${width}" height="${height}" rx="8" fill="${theme.background}" stroke="#8b949e" stroke-opacity="0.4"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="${theme.foreground}">
${texts.join('\n')}
</g>
</svg>
`;
}

/** Who asked for less motion, and every program that knows no animation, sees all lines at once. */
const recorded = `<style>@media (prefers-reduced-motion: no-preference) { g[style] { animation: appear 0.1s backwards } } @keyframes appear { from { opacity: 0 } }</style>
`;

interface Run {
  readonly text: string;
  readonly codes: ReadonlySet<string>;
}

/** Splits a line where its codes change. */
function runsOf(line: string): Run[] {
  const [start = '', ...parts] = line.split('\u001B[');
  const codes = new Set<string>();
  const runs: Run[] = [{ text: start, codes: new Set() }];
  for (const part of parts) {
    const [sequence, list] = /^([\d;]*)m/.exec(part) ?? [];
    if (sequence === undefined || list === undefined)
      throw new Error(`A picture has no form for the code ${inspect(part)}.`);
    if (list === '39') for (const code of ['31', '32', '33', '36']) codes.delete(code);
    else if (list === '22') for (const code of ['1', '2']) codes.delete(code);
    else codes.add(list);
    runs.push({ text: part.slice(sequence.length), codes: new Set(codes) });
  }
  return runs.filter(({ text }) => text !== '');
}

function textsOf(line: readonly Run[], y: number, theme: Theme): string[] {
  let column = 0;
  return line.flatMap(({ text, codes }) => {
    const from = column;
    column += text.length;
    const colour = [...codes].map((code) => theme.colours[code]).find((found) => found !== undefined);
    const style = [
      colour === undefined ? '' : ` fill="${colour}"`,
      codes.has('1') ? ' font-weight="bold"' : '',
      codes.has('2') ? ' opacity="0.65"' : '',
    ].join('');
    return [...text.matchAll(/[^ ]+(?: [^ ]+)*/g)].map(({ 0: piece, index }) => {
      const x = margin + (from + index) * charWidth;
      const length = (piece.length * charWidth).toFixed(1);
      return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" textLength="${length}" lengthAdjust="spacingAndGlyphs"${style}>${escaped(piece)}</text>`;
    });
  });
}
