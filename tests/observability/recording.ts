import { fileURLToPath } from 'node:url';

/** A recording has a value for each step of this length. In the unit tests of the rules a step stands for a minute. */
export const stepSeconds = 2;

export const recordingFile: string = fileURLToPath(new URL('recorded.json', import.meta.url));

/** A part of a recording in which a trouble begins and ends. */
export interface Phase {
  readonly name: string;
  readonly alerts: readonly string[];
  /** The step in which the trouble began, and the step in which it ended. */
  readonly from: number;
  readonly to: number;
  /** A step after the last alert. */
  readonly over: number;
}

/** A record of what Prometheus saw of a fleet. */
export interface Recording {
  readonly phases: readonly Phase[];
  /** The values of each series, in the notation of promtool. */
  readonly series: Readonly<Record<string, string>>;
}

/** Writes values in the notation of promtool: `7+0x3` is 7 four times, `stale` ends a series, and `_x3` are three steps without a value. */
export function notationOf(values: readonly (number | undefined)[]): string {
  const parts: string[] = [];
  for (let at = 0; at < values.length; ) {
    const value = values[at];
    let end = at;
    while (end < values.length && values[end] === value) end += 1;
    const count = end - at;
    if (value !== undefined) parts.push(count > 1 ? `${numberOf(value)}+0x${count - 1}` : numberOf(value));
    else if (at === 0) parts.push(`_x${count}`);
    else parts.push('stale', ...(count > 1 ? [`_x${count - 1}`] : []));
    at = end;
  }
  return parts.join(' ');
}

function numberOf(value: number): string {
  return value === Number.POSITIVE_INFINITY ? 'Inf' : `${value}`;
}
