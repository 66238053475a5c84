import type { Terminal } from './command.ts';

/** Draws lines, and a last line that is always seen. */
export type Draw = (lines: readonly string[], footer: string) => void;

// Some terminals, such as a fresh one of Docker, say that they have no rows.
const usualRows = 24;
const home = '\u001B[H';
const eraseRight = '\u001B[K';
const eraseBelow = '\u001B[J';
const cutLongLines = '\u001B[?7l';
const wrapLongLines = '\u001B[?7h';

/** Each call writes over the one before. What the terminal had shown can be scrolled back to. */
export function openCanvas(terminal: Terminal): Draw {
  terminal.write('\n'.repeat((terminal.rows || usualRows) - 1));
  return (lines, footer) => {
    // The cursor ends on a line of its own.
    const room = Math.max(3, (terminal.rows || usualRows) - 1);
    const hidden = lines.length + 2 - room;
    const shown =
      hidden <= 0
        ? [...lines, '', footer]
        : [...lines.slice(0, room - 2), `and ${hidden} more lines: the window is too low`, footer];
    const text = shown.map((line) => `${line}${eraseRight}\n`).join('');
    terminal.write(`${cutLongLines}${home}${text}${eraseBelow}${wrapLongLines}`);
  };
}
