import { styleText } from 'node:util';
import { printable } from '../line/printable.ts';
import { day, hour, minute } from '../line/units.ts';

/** The form of a text. Times in it are relative to `now`. */
export interface Style {
  readonly colours: boolean;
  readonly columns: number;
  /** Epoch milliseconds. */
  readonly now: number;
}

export type Colour = 'red' | 'yellow' | 'green' | 'dim' | 'bold' | 'cyan';

export function coloured({ colours }: Style, colour: Colour, text: string): string {
  return colours && text !== '' ? styleText(colour, text, { validateStream: false }) : text;
}

/** The sentences of a paragraph. Empty ones say nothing. */
export function together(sentences: readonly string[]): string {
  return sentences.filter((sentence) => sentence !== '').join(' ');
}

/** What the provider counts: `token` or `request`. */
export function countedBy({ counts }: { readonly counts?: 'requests' | undefined }): string {
  return counts ? 'request' : 'token';
}

/** `1 token`, `2 tokens`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** What the token endpoint does that limits the rate of requests, by the status of its answer. */
export function asksToWait(status = 429): string {
  return `answered ${status}${status === 429 ? '' : ' and asked to try again later'}`;
}

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

/** The zone of the clock on the wall, as its distance from UTC: `UTC+1`, `UTC-3:30`. */
export function zone(at: number): string {
  const minutes = -new Date(at).getTimezoneOffset();
  if (minutes === 0) return 'UTC';
  const rest = Math.abs(minutes) % 60;
  const hours = Math.floor(Math.abs(minutes) / 60);
  return `UTC${minutes > 0 ? '+' : '-'}${hours}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`;
}

/** `15:02 (in 31 min)`, or `14:02 (5 min ago)`. */
export function instant(at: number, now: number): string {
  return `${clockTime(at, now)} (${at >= now ? `in ${duration(at - now)}` : `${duration(now - at)} ago`})`;
}

export function windowName(windowMs: number): string {
  if (windowMs % day === 0 && windowMs > day) return `${windowMs / day} days`;
  return windowMs % hour === 0 ? `${windowMs / hour} h` : duration(windowMs);
}

/** Cuts a long text in its middle, because the ends of names tell most. It is printable then. */
export function cut(given: string, columns: number): string {
  const text = printable(given);
  if (text.length <= columns) return text;
  const head = Math.ceil((columns - 1) / 2);
  return `${text.slice(0, head)}…${text.slice(text.length - (columns - 1 - head))}`;
}

/** Cuts the names of one column, the scheme first. Names that would look equal show their ends. */
export function cutApart(given: readonly string[], columns: number): string[] {
  const texts = given.map(printable);
  if (texts.every(({ length }) => length <= columns)) return texts;
  const plain = texts.map((text) => text.replace(/^https:\/\//, ''));
  const shown = new Map(plain.map((text) => [text, cut(text, columns)]));
  for (const alike of alikeIn(shown)) for (const [text, end] of endsOf(alike, columns)) shown.set(text, end);
  return plain.map((text) => shown.get(text) ?? text);
}

function alikeIn(shown: ReadonlyMap<string, string>): string[][] {
  const groups = [...grouped([...shown], ([, short]) => short).values()];
  return groups.filter(({ length }) => length > 1).map((group) => group.map(([text]) => text));
}

/** Each name from the place on in which these names differ. */
function endsOf(alike: readonly string[], columns: number): Map<string, string> {
  const [first = ''] = alike;
  const isCommon = (at: number) => alike.every((text) => text[at] === first[at]);
  let from = 0;
  while (from < first.length && isCommon(from)) from += 1;
  const ends = new Map<string, string>();
  for (const text of alike) {
    const end = `…${text.slice(from)}`;
    ends.set(
      text,
      end.length <= columns ? `…${text.slice(text.length - columns + 1)}` : `${end.slice(0, columns - 1)}…`,
    );
  }
  const still = alikeIn(ends).filter(({ length }) => length < alike.length);
  for (const group of still) for (const [text, end] of endsOf(group, columns)) ends.set(text, end);
  return ends;
}

const narrowest = 8;

/**
 * Rows in columns. Numbers stand at the right. If the rows are too long, the widest of the flexible
 * columns gives way. Columns at the right that do not fit even then are left out.
 */
export function table(
  rows: readonly (readonly (string | number)[])[],
  columns: number,
  flexible: readonly number[] = [0],
): string[] {
  const textOf = (cell: string | number | undefined) => printable(String(cell ?? ''));
  const all = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => textOf(row[at]).length)));
  const least = all.map((width, at) => (flexible.includes(at) ? Math.min(width, narrowest) : width));
  const fits = (count: number) => lengthOf(least.slice(0, count)) <= columns;
  const widths = all.filter((_, at) => at === 0 || fits(at + 1));
  const yielding = flexible.filter((at) => at < widths.length);
  while (lengthOf(widths) > columns) {
    const widest = yielding.reduce((a, b) => ((widths[b] ?? 0) > (widths[a] ?? 0) ? b : a));
    if ((widths[widest] ?? 0) <= narrowest) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  const cells = widths.map((width, at) => {
    const texts = rows.map((row) => textOf(row[at]));
    const isNumeric = typeof rows.at(-1)?.[at] === 'number';
    return isNumeric
      ? texts.map((text) => text.padStart(width))
      : cutApart(texts, width).map((text) => text.padEnd(width));
  });
  return rows.map((_, row) =>
    cells
      .map((column) => column[row] ?? '')
      .join('  ')
      .trimEnd(),
  );
}

/** The length of a row, with two spaces between its columns. */
function lengthOf(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width + 2, -2);
}

/** The groups of things with one name, and their names. The largest comes first. */
export function ranked<Thing, Name extends string>(
  things: readonly Thing[],
  nameOf: (thing: Thing) => Name,
): [Name, Thing[]][] {
  return [...grouped(things, nameOf)].sort(([, a], [, b]) => b.length - a.length);
}

/** Groups things by a name. The groups are in the order in which their first member came. */
export function grouped<Thing, Name extends string>(
  things: readonly Thing[],
  nameOf: (thing: Thing) => Name,
): Map<Name, Thing[]> {
  const groups = new Map<Name, Thing[]>();
  for (const thing of things) {
    const name = nameOf(thing);
    groups.set(name, [...(groups.get(name) ?? []), thing]);
  }
  return groups;
}
