/** The form of a text: in colours or plain, so many columns wide, with times relative to this instant. */
export interface Style {
  readonly colours: boolean;
  readonly columns: number;
  /** Epoch milliseconds. */
  readonly now: number;
}

export type Colour = 'red' | 'yellow' | 'green' | 'dim' | 'bold' | 'cyan';

const codes: Readonly<Record<Colour, readonly [on: number, off: number]>> = {
  red: [31, 39],
  yellow: [33, 39],
  green: [32, 39],
  cyan: [36, 39],
  dim: [2, 22],
  bold: [1, 22],
};

export function coloured({ colours }: Style, colour: Colour, text: string): string {
  const [on, off] = codes[colour];
  return colours && text !== '' ? `\u001B[${on}m${text}\u001B[${off}m` : text;
}

/** `1 token`, `2 tokens`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** A duration as people say it: `31 min`, `5 h 20 min`. */
export function duration(ms: number): string {
  if (ms < minute) return `${Math.max(0, Math.round(ms / 1_000))} s`;
  const minutes = Math.round(ms / minute);
  if (minutes < 100) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours >= 48) return `${Math.round(ms / day)} days`;
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
}

/** An instant by the clock on the wall, with the day if it is another one. */
export function clockTime(at: number, now: number): string {
  const date = new Date(at);
  const two = (number: number) => String(number).padStart(2, '0');
  const time = `${two(date.getHours())}:${two(date.getMinutes())}`;
  if (date.toDateString() === new Date(now).toDateString()) return time;
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`;
}

/** `15:02 (in 31 min)`, or `14:02 (5 min ago)`. */
export function instant(at: number, now: number): string {
  return `${clockTime(at, now)} (${at >= now ? `in ${duration(at - now)}` : `${duration(now - at)} ago`})`;
}

/** The length of a window as people say it. */
export function windowName(windowMs: number): string {
  if (windowMs % day === 0 && windowMs > day) return `${windowMs / day} days`;
  return windowMs % hour === 0 ? `${windowMs / hour} h` : duration(windowMs);
}

/** Cuts a text that is too long, in its middle: the ends of names tell most. */
export function cut(text: string, columns: number): string {
  if (text.length <= columns) return text;
  const head = Math.ceil((columns - 1) / 2);
  return `${text.slice(0, head)}…${text.slice(text.length - (columns - 1 - head))}`;
}

/** Breaks sentences into lines. */
export function wrapped(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/** Rows in columns. Numbers stand at the right. The first column gets what the others leave. */
export function table(rows: readonly (readonly (string | number)[])[], columns: number): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => String(row[at] ?? '').length)));
  const others = widths.slice(1).reduce((sum, width) => sum + width + 2, 0);
  const first = Math.max(8, Math.min(widths[0] ?? 0, columns - others));
  const isNumeric = (at: number) => typeof rows.at(-1)?.[at] === 'number';
  return rows.map((row) =>
    row
      .map((cell, at) => {
        const width = at === 0 ? first : (widths[at] ?? 0);
        return isNumeric(at) ? String(cell).padStart(width) : cut(String(cell), width).padEnd(width);
      })
      .join('  ')
      .trimEnd(),
  );
}

/** Groups things by a name. The groups are in the order in which their first member came. */
export function grouped<Thing>(things: readonly Thing[], nameOf: (thing: Thing) => string): Map<string, Thing[]> {
  const groups = new Map<string, Thing[]>();
  for (const thing of things) {
    const name = nameOf(thing);
    groups.set(name, [...(groups.get(name) ?? []), thing]);
  }
  return groups;
}
