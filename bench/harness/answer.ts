import type { Spread } from './statistics.ts';

/** The kind of a row. A limit does nothing but the job; a peer is a library that people would use instead. */
export type Kind = 'limit' | 'handwritten' | 'ours' | 'peer';

export interface Row {
  readonly name: string;
  readonly kind: Kind;
  /** The number of cells equals the number of columns. */
  readonly cells: readonly string[];
}

export interface Table {
  readonly title: string;
  /** The headings of all cells but the name. */
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
}

/** A picture of one column. */
export interface Chart {
  readonly title: string;
  /** A scale on which ten times as much is one step more. */
  readonly logarithmic: boolean;
  readonly bars: readonly {
    readonly name: string;
    readonly kind: Kind;
    readonly value: Spread;
    readonly label: string;
  }[];
}

/** The target and the measured value. */
export interface Goal {
  readonly text: string;
  readonly aim: string;
  readonly measured: string;
  readonly met: boolean;
}

/** The result of a question's measurements. */
export interface Answer {
  readonly tables: readonly Table[];
  readonly chart?: Chart;
  readonly goals: readonly Goal[];
}

/** The extent of the measurement: `quick` is for your own changes, without the peers. */
export interface Scope {
  readonly quick: boolean;
}

export function atMost(text: string, aim: number, measured: Spread, digits = 2): Goal {
  return {
    text,
    aim: `≤ ${aim}`,
    measured: spreadText(measured, digits),
    met: measured.median <= aim,
  };
}

/** `1.02 (0.98–1.10)`: the median, the least and the most. */
export function spreadText({ median, min, max }: Spread, digits = 2): string {
  return `${numberText(median, digits)} (${numberText(min, digits)}–${numberText(max, digits)})`;
}

/** Large numbers need no fractions. */
export function numberText(value: number, digits = 2): string {
  if (Number.isNaN(value)) return '–';
  const fraction = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? Math.min(digits, 1) : digits;
  return value.toLocaleString('en-US', { minimumFractionDigits: fraction, maximumFractionDigits: fraction });
}
