import { type Limits, limitsFor, type StoreDurability, unlimitedTokens } from '../ledger/limits.ts';
import type { Term } from '../ledger/record.ts';
import { day } from '../ledger/units.ts';
import { isPlain, ownProperties } from '../platform/untrusted.ts';
import { problemOfInteger, type Report, reportUnknown } from './config-problems.ts';
import type { Store } from './store.ts';

/** A window of the agreement: at most `tokens` per client within `windowMs`. */
export interface IssuanceWindow extends Counting {
  /** The tokens of a window, or its requests: 1 to 1,000,000. */
  tokens: number;
  /** The window in milliseconds: 1,000 to 2,678,400,000 (31 days). */
  windowMs: number;
}

interface Counting {
  /**
   * Whether the provider counts tokens or requests. `requests`: every request that reaches the
   * token endpoint counts, refused ones, too. Default `tokens`, or for one of several windows the
   * `counts` of the limit.
   */
  counts?: 'tokens' | 'requests' | undefined;
}

interface Reserve extends Counting {
  /**
   * The tokens that no process requests: 0 to `tokens` - 1. They make up for tokens that were
   * issued but are in no record, because the store lost it. With several windows the reserve
   * belongs to the window with the most tokens, and the others keep the same share of theirs.
   * Default: a fifth of `tokens`, or half of them for a `replicated` store.
   */
  reserve?: number | undefined;
  /**
   * False if no request is refused for the agreement, not even for the one of another process. The
   * requests that it would have refused are counted, and shown by the event `issuance_over_limit`,
   * `getUsage()` and `service-auth explain`. Pauses after failures stay. Use it to see what the
   * limit would do before you enforce it. Default true.
   */
  enforce?: boolean | undefined;
}

interface OneWindow extends Reserve {
  /** The tokens of a window: 1 to 1,000,000. Default 150 (the service's interface, Limits). */
  tokens?: number | undefined;
  /**
   * The window in milliseconds: 1,000 to 2,678,400,000 (31 days). Default 86,400,000 (24 hours).
   */
  windowMs?: number | undefined;
  windows?: undefined;
}

interface SeveralWindows extends Reserve {
  /** The windows of an agreement that has several, in place of `tokens` and `windowMs`: 1 to 8. */
  windows: readonly IssuanceWindow[];
  tokens?: undefined;
  windowMs?: undefined;
}

/**
 * The agreement with the provider: at most `tokens` per client within `windowMs`, or several of
 * such `windows`. All of them are kept.
 */
export type IssuanceLimit = OneWindow | SeveralWindows;

/** Without `counts` only tokens count. */
type CountedWindow = Pick<Term, 'tokens' | 'windowMs' | 'counts'>;

const usual: CountedWindow = { tokens: 150, windowMs: day };
const unlimited: CountedWindow = { tokens: unlimitedTokens, windowMs: day };
const maxWindows = 8;
const names = ['tokens', 'windowMs', 'windows', 'reserve', 'counts', 'enforce'];

/** Checks the agreement, and computes its terms for a store. */
export function resolveLimits(
  given: IssuanceLimit | 'inherit' | 'unlimited' | undefined,
  { durability, maxRecordBytes }: Pick<Store, 'durability' | 'maxRecordBytes'>,
  report: Report,
): Limits {
  return { ...agreed(given, durability, report), maxBytes: maxRecordBytes };
}

function agreed(
  given: IssuanceLimit | 'inherit' | 'unlimited' | undefined,
  durability: StoreDurability,
  report: Report,
): Limits {
  if (given === 'unlimited') return limitsFor([unlimited], 0, durability);
  if (given === 'inherit') return { durability, terms: [], usual: limitsFor([usual], undefined, durability).terms };
  let isSound = true;
  const check: Report = (option, problem) => {
    if (problem !== undefined) isSound = false;
    report(option, problem);
  };
  const windows = given === undefined ? [usual] : windowsOf(given, check);
  const { reserve, enforce }: Reserve = ownProperties(isSound && given ? given : {});
  if (reserve !== undefined) {
    const largest = Math.max(...windows.map(({ tokens }) => tokens));
    check('issuanceLimit.reserve', problemOfInteger(reserve, 0, largest - 1));
  }
  return isSound ? limitsFor(windows, reserve, durability, enforce) : limitsFor([usual], undefined, durability);
}

function windowsOf(given: IssuanceLimit, report: Report): readonly CountedWindow[] {
  if (!isObject(given) || !(isPlain(given) || names.some((name) => Object.hasOwn(given, name)))) {
    report('issuanceLimit', 'must be an object such as { tokens: 150 }, or unlimited');
    return [];
  }
  const { windows, ...limit } = ownProperties(given);
  reportUnknown(limit, names, report, 'issuanceLimit.');
  const { enforce } = limit;
  report(
    'issuanceLimit.enforce',
    enforce === undefined || typeof enforce === 'boolean' ? undefined : 'must be true or false',
  );
  if (windows === undefined) return [windowOf({ ...usual, ...defined(limit) }, 'issuanceLimit', report)];
  if (!Array.isArray(windows) || windows.length < 1 || windows.length > maxWindows) {
    report(
      'issuanceLimit.windows',
      `must be an array of 1 to ${maxWindows} windows such as { tokens: 10, windowMs: 3_600_000 }`,
    );
    return [];
  }
  if (limit.tokens !== undefined || limit.windowMs !== undefined) {
    report('issuanceLimit.windows', 'must not be given together with tokens or windowMs');
  }
  report('issuanceLimit.counts', problemOfCounts(limit.counts));
  const read = Array.from(windows, (window, index) =>
    windowOf(window, `issuanceLimit.windows[${index}]`, report, limit.counts),
  );
  if (new Set(read.map(({ windowMs, counts }) => `${windowMs} ${counts}`)).size < read.length) {
    report('issuanceLimit.windows', 'must not have the same windowMs twice');
  }
  return read;
}

function windowOf(given: unknown, option: string, report: Report, usually?: IssuanceWindow['counts']): CountedWindow {
  if (!isObject(given)) {
    report(option, 'must be an object such as { tokens: 10, windowMs: 3_600_000 }');
    return usual;
  }
  const window = ownProperties(given) as IssuanceWindow;
  const { tokens, windowMs, counts = usually } = window;
  const isNested = option !== 'issuanceLimit';
  if (isNested) reportUnknown(window, ['tokens', 'windowMs', 'counts'], report, `${option}.`);
  report(`${option}.tokens`, problemOfInteger(tokens, 1, 1_000_000));
  report(`${option}.windowMs`, problemOfInteger(windowMs, 1_000, 31 * day) ?? problemOfUnit(windowMs));
  report(`${option}.counts`, problemOfCounts(window.counts));
  return { tokens, windowMs, ...(counts === 'requests' && { counts }) };
}

/**
 * Returns the problem of a window that was written in seconds or minutes. Such a window would be
 * over before anybody counted.
 */
function problemOfUnit(windowMs: number): string | undefined {
  const isDaysInSeconds = windowMs % 86_400 === 0 && windowMs % 60_000 !== 0;
  return isDaysInSeconds || windowMs % 1_000 !== 0
    ? 'must be in milliseconds, such as 3_600_000 for an hour or 86_400_000 for a day; it looks like seconds or minutes'
    : undefined;
}

function problemOfCounts(counts: unknown): string | undefined {
  return counts === undefined || counts === 'tokens' || counts === 'requests'
    ? undefined
    : 'must be tokens or requests';
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function defined<Part extends object>(part: Part): Partial<Part> {
  return Object.fromEntries(Object.entries(part).filter(([, value]) => value !== undefined)) as Partial<Part>;
}

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: day };

/**
 * Reads a length of time that is written like `50m`, with the units s, m, h and d, in milliseconds.
 * Undefined: the text is not written so.
 */
export function parseDuration(text: string): number | undefined {
  const [, length, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  return length === undefined ? undefined : Number(length) * (units[unit] as number);
}

/**
 * Reads a limit that is written like `300`, `10/1h,50/24h` or `10 requests/10m`, with the units s,
 * m, h and d. Undefined: the text is not written so. `requests`: the provider counts these.
 */
export function parseLimit(text: string): IssuanceLimit | undefined {
  const windows = text.split(',').map((part) => {
    const [, tokens, requests, length, unit = ''] =
      /^\s*(\d{1,9})(\s+requests)?(?:\/(\d{1,9})([smhd]))?\s*$/.exec(part) ?? [];
    const window = { tokens: Number(tokens), windowMs: Number(length) * (units[unit] ?? Number.NaN) };
    return requests ? { ...window, counts: 'requests' as const } : window;
  });
  const [{ windowMs: _, ...first }] = windows as [IssuanceWindow];
  if (!/[/,]/.test(text)) return first.tokens >= 0 && text === text.trim() ? first : undefined;
  return windows.every(({ windowMs }) => windowMs >= 0) ? { windows } : undefined;
}
