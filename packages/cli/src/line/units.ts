export const minute = 60_000;
export const hour: number = 60 * minute;
export const day: number = 24 * hour;

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: minute, h: hour, d: day };

/** Reads a duration such as 90s, 10m or 24h, in milliseconds. Undefined: it is none. */
export function durationMs(text: string): number | undefined {
  const [, number, unit = ''] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) ?? [];
  return number === undefined ? undefined : Number(number) * (units[unit] as number);
}
