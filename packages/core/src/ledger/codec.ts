import { checksum } from './checksum.ts';
import { oauthErrorCode } from './oauth-error.ts';
import {
  type Failures,
  type Hint,
  type Later,
  type LedgerRecord,
  type LogEntry,
  newForm,
  type Quota,
  type QuotaSaid,
  type Refusal,
  type Spent,
  type StatedTerm,
  type StoredToken,
  type Streak,
  type TokenState,
} from './record.ts';

/**
 * The numbers of the form that this release reads. A change of what counts or decides needs another
 * one, in two releases: see docs/upgrading.md.
 */
const forms: readonly number[] = [newForm];
const headerOf = (form: number) => `service-auth/${form} `;
const maxLength = 4_000_000;
const [maxRows, maxNames, maxQuotas] = [12_000, 10_000, 64];
// A Date shows instants up to 8.64e15. The difference is room for clocks that differ.
const maxInstant = 8e15;

/** Writes a record as the text that a store keeps: form, checksum, JSON. */
export function encodeRecord(record: LedgerRecord): string {
  const json = JSON.stringify(record);
  return `${headerOf(record.form)}${checksum(json)} ${json}`;
}

/**
 * Reads a text of {@link encodeRecord} and checks every part of it. Members that this release does not
 * know are left out. Returns why the text can't be trusted, if it can't. `isNew`: this process has just
 * written it, so its checksum is right.
 */
export function decodeRecord(text: string, isNew = false): LedgerRecord | 'damaged' | 'unknown version' {
  const form = forms.find((each) => text.startsWith(headerOf(each)));
  if (form === undefined) return /^service-auth\/\d{1,6} /.test(text) ? 'unknown version' : 'damaged';
  const { length } = headerOf(form);
  const json = text.slice(length + 9);
  const sum = text.slice(length, length + 9);
  if (text.length > maxLength || (!isNew && sum !== `${checksum(json)} `)) return 'damaged';
  try {
    return readRecord(JSON.parse(json), form);
  } catch {
    return 'damaged';
  }
}

function readRecord(wire: unknown, form: number): LedgerRecord {
  const own = membersOf(wire);
  check(own['form'] === form);
  return {
    form: Math.max(form, newForm),
    id: text(own['id']),
    sequence: count(own['sequence']),
    generation: count(own['generation']),
    completeSince: count(own['completeSince']),
    latestAt: count(own['latestAt']),
    leaptAt: count(own['leaptAt']),
    limits: list(own['limits'], 64, readTerm),
    spent: uniqueIds(list(own['spent'], maxRows, readSpent)),
    states: named(own['states'], readState),
    lost: optional(own['lost'], readFailures),
    refusals: named(own['refusals'], readRefusal),
    later: optional(own['later'], readLater),
    retries: optional(own['retries'], (part) => ({ ...readStreak(part), id: text(membersOf(part)['id']) })),
    tokens: list(own['tokens'], maxNames, readToken),
    log: list(own['log'], 1_000, readLogEntry),
    quota: optional(own['quota'], readQuota),
  };
}

function readTerm(wire: unknown): StatedTerm {
  const { counts, ...own } = membersOf(wire);
  const [tokens, windowMs, reserve] = [count(own['tokens']), count(own['windowMs']), count(own['reserve'])];
  check(reserve < tokens && windowMs > 0);
  const term = { tokens, windowMs, reserve, seenAt: count(own['seenAt']), by: text(own['by']) };
  return counts === undefined ? term : { ...term, counts: oneOf(counts, ['requests'] as const) };
}

const reasons = ['cold', 'refresh', 'expired', 'rejected', 'reset', 'several', 'stated'] as const;

function readSpent(wire: unknown): Spent {
  const own = membersOf(wire);
  return {
    id: text(own['id']),
    at: count(own['at']),
    generation: count(own['generation']),
    name: text(own['name']),
    keyId: text(own['keyId']),
    instance: text(own['instance']),
    reason: oneOf(own['reason'], reasons),
    died: optional(own['died'], readTrue),
    until: optional(own['until'], count),
    issuedAt: optional(own['issuedAt'], count),
    refusedAt: optional(own['refusedAt'], count),
    tokens: optional(own['tokens'], count),
  };
}

function readState(wire: unknown): TokenState {
  const own = membersOf(wire);
  return {
    failures: optional(own['failures'], readFailures),
    refusals: optional(own['refusals'], (part) => named(part, readRefusal)),
    rejections: optional(own['rejections'], readStreak),
    resetUpTo: optional(own['resetUpTo'], count),
    resetHash: optional(own['resetHash'], text),
  };
}

function readStreak(wire: unknown): Streak {
  const own = membersOf(wire);
  return { count: count(own['count']), at: count(own['at']) };
}

const kinds = ['unreached', 'unknown', 'died', 'refused'] as const;

function readHint(wire: unknown): Hint {
  const own = membersOf(wire);
  const kind = oneOf(own['kind'], kinds);
  return { kind, status: optional(own['status'], count), code: optional(own['code'], codeOf(kind)) };
}

/** Another version of this package, or an attacker with access to the store, may have written any text. */
function codeOf(kind: Hint['kind']) {
  return (wire: unknown): string => (kind === 'refused' ? oauthErrorCode(text(wire)) : text(wire));
}

function readFailures(wire: unknown): Failures {
  return { ...readStreak(wire), ...readHint(wire) };
}

function readLater(wire: unknown): Later {
  const own = membersOf(wire);
  return { until: count(own['until']), at: count(own['at']), ...readHint(wire) };
}

function readRefusal(wire: unknown): Refusal {
  const own = membersOf(wire);
  return {
    ...readStreak(wire),
    status: count(own['status']),
    code: optional(own['code'], codeOf('refused')),
    name: text(own['name']),
    keyId: text(own['keyId']),
    instance: text(own['instance']),
  };
}

function readToken(wire: unknown): StoredToken {
  const own = membersOf(wire);
  return {
    name: text(own['name']),
    keyId: text(own['keyId']),
    id: text(own['id']),
    generation: count(own['generation']),
    expiresAt: count(own['expiresAt']),
    lifetimeMs: count(own['lifetimeMs']),
    sealed: text(own['sealed']),
    hash: optional(own['hash'], text),
    expiredBy: optional(own['expiredBy'], count),
    renewAfter: optional(own['renewAfter'], count),
  };
}

function readLogEntry(wire: unknown): LogEntry {
  const own = membersOf(wire);
  return {
    id: text(own['id']),
    at: count(own['at']),
    kind: oneOf(own['kind'], ['reset', 'retry', 'spent']),
    by: text(own['by']),
    name: optional(own['name'], text),
    reason: optional(own['reason'], text),
    tokenId: optional(own['tokenId'], text),
  };
}

function readQuota(wire: unknown): QuotaSaid {
  const own = membersOf(wire);
  const figures = list(own['figures'], maxQuotas, (figure) => {
    const numbers = list(figure, 64, count);
    check(numbers.length >= 4);
    return numbers as unknown as Quota;
  });
  return { askedAt: count(own['askedAt']), at: count(own['at']), figures };
}

// Everything below throws if a part is damaged.

function check(condition: boolean): asserts condition {
  if (!condition) throw new RangeError('damaged');
}

function text(wire: unknown): string {
  check(typeof wire === 'string' && wire.length <= 40_000);
  return wire;
}

function count(wire: unknown): number {
  check(Number.isInteger(wire) && (wire as number) >= 0 && (wire as number) <= maxInstant);
  return wire as number;
}

function readTrue(wire: unknown): true {
  check(wire === true);
  return true;
}

function oneOf<Word extends string>(wire: unknown, words: readonly Word[]): Word {
  const word = words.find((each) => each === wire);
  check(word !== undefined);
  return word;
}

function optional<Part>(wire: unknown, read: (wire: unknown) => Part): Part | undefined {
  return wire === undefined ? undefined : read(wire);
}

function list<Part>(wire: unknown, most: number, read: (wire: unknown) => Part): Part[] {
  check(Array.isArray(wire) && wire.length <= most);
  return wire.map((part) => read(part));
}

/** Returns the own members of an object. A polluted prototype has none of them. */
function membersOf(wire: unknown): Readonly<Record<string, unknown>> {
  check(wire === Object(wire) && !Array.isArray(wire));
  return Object.assign(Object.create(null), wire);
}

function named<Part>(wire: unknown, read: (wire: unknown) => Part): Readonly<Record<string, Part>> {
  const members = Object.entries(membersOf(wire));
  check(members.length <= maxNames);
  const found: Record<string, Part> = Object.create(null);
  for (const [name, part] of members) found[name] = read(part);
  return found;
}

function uniqueIds(spent: Spent[]): Spent[] {
  check(new Set(spent.map(({ id }) => id)).size === spent.length);
  return spent;
}
