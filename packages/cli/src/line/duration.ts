const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads a duration such as 90s, 10m or 24h, in milliseconds. Undefined: it is none. */
export function durationMs(text: string): number | undefined {
  const { number, unit } = /^(?<number>\d{1,9})(?<unit>ms|s|m|h|d)$/.exec(text)?.groups ?? {};
  return number === undefined ? undefined : Number(number) * units[unit as keyof typeof units];
}
