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
 * The numbers of the form that this release reads. A change of the members that count or decide
 * needs another number, in two releases: see docs/upgrading.md.
 */
const forms: readonly number[] = [newForm];
const headerOf = (form: number) => `service-auth/${form} `;
const maxLength = 4_000_000;
const [maxRows, maxNames, maxQuotas] = [12_000, 10_000, 64];
// A Date shows instants up to 8.64e15. The difference is room for clocks that differ.
const maxInstant = 8e15;

/** A record, and the text of it that a store keeps. */
export interface Encoded {
  readonly record: LedgerRecord;
  readonly text: string;
}

/** Writes a record as the text that a store keeps: form, checksum, JSON. */
export function encodeRecord(record: LedgerRecord): string {
  const json = JSON.stringify(record);
  return `${headerOf(record.form)}${checksum(json)} ${json}`;
}

/**
 * Reads a text of {@link encodeRecord} and checks every part of it. Members that this release does
 * not know are left out. Returns why the text can't be trusted, if it can't.
 */
export function decodeRecord(text: string): LedgerRecord | 'damaged' | 'unknown version' {
  const form = forms.find((each) => text.startsWith(headerOf(each)));
  if (form === undefined) return /^service-auth\/\d{1,6} /.test(text) ? 'unknown version' : 'damaged';
  const { length } = headerOf(form);
  const json = text.slice(length + 9);
  if (text.length > maxLength || text.slice(length, length + 9) !== `${checksum(json)} `) return 'damaged';
  try {
    return readForm(form, JSON.parse(json));
  } catch {
    return 'damaged';
  }
}

/** Returns what {@link decodeRecord} would return for the text of a record, without reading it. */
export function readBack({ record, text }: Encoded): LedgerRecord | 'damaged' {
  if (text.length > maxLength) return 'damaged';
  try {
    return readForm(record.form, record);
  } catch {
    return 'damaged';
  }
}

function readForm(form: number, wire: unknown): LedgerRecord | 'damaged' {
  const record = readRecord(wire);
  return record.form === form ? { ...record, form: Math.max(form, newForm) } : 'damaged';
}

type Read<Part> = (wire: unknown) => Part;
/** How to read each member of a part. The compiler finds a missing one. */
type Shape<Part> = { readonly [Name in keyof Part]-?: Read<Part[Name]> };

const streak: Shape<Streak> = { count, at: count, knownAt: optional(count) };

const hint: Shape<Hint> = {
  kind: oneOf<Hint['kind']>({ unreached: true, unknown: true, died: true, refused: true }),
  status: optional(count),
  code: optional(text),
};

const readRefusal = object<Refusal>({
  ...streak,
  status: count,
  code: optional(oauthErrorCode),
  name: text,
  keyId: text,
  instance: text,
});

/**
 * Another version of this package, or an attacker with access to the store, may have written any
 * text as a code.
 */
function hinted<Part extends Hint>(read: Read<Part>): Read<Part> {
  return (wire) => {
    const part = read(wire);
    return part.kind === 'refused' ? { ...part, code: part.code && oauthErrorCode(part.code) } : part;
  };
}

const readFailures = hinted(object<Failures>({ ...streak, ...hint }));

const readState = object<TokenState>({
  failures: optional(readFailures),
  refusals: optional(named(readRefusal)),
  rejections: optional(object<Streak>(streak)),
  resetUpTo: optional(count),
  resetHash: optional(text),
});

const readTerm = object<StatedTerm>({
  tokens: count,
  windowMs: count,
  reserve: count,
  counts: optional(oneOf<'requests'>({ requests: true })),
  enforce: optional(exactly(false)),
  seenAt: count,
  by: text,
});

const readSpent = object<Spent>({
  id: text,
  at: count,
  generation: count,
  name: text,
  keyId: text,
  instance: text,
  reason: oneOf<Spent['reason']>({
    cold: true,
    refresh: true,
    expired: true,
    rejected: true,
    reset: true,
    several: true,
    stated: true,
  }),
  died: optional(exactly(true)),
  overLimit: optional(exactly(true)),
  until: optional(count),
  issuedAt: optional(count),
  refusedAt: optional(count),
  tokens: optional(count),
});

const readToken = object<StoredToken>({
  name: text,
  keyId: text,
  id: text,
  generation: count,
  expiresAt: count,
  lifetimeMs: count,
  sealed: text,
  hash: optional(text),
  expiredBy: optional(count),
  renewAfter: optional(count),
});

const readNote = object<LogEntry>({
  id: text,
  at: count,
  kind: oneOf<LogEntry['kind']>({ reset: true, retry: true, spent: true }),
  by: text,
  name: optional(text),
  reason: optional(text),
  tokenId: optional(text),
});

const readQuota = object<Quota>({ windowMs: count, tokens: count, remaining: count, endsInMs: count });

const readRecord = object<LedgerRecord>({
  form: count,
  id: text,
  sequence: count,
  generation: count,
  completeSince: count,
  latestAt: count,
  movedMs(wire) {
    check(Number.isInteger(wire) && Math.abs(wire as number) <= maxInstant);
    return wire as number;
  },
  limits: list(64, (wire) => {
    const term = readTerm(wire);
    check(term.reserve < term.tokens && term.windowMs > 0);
    return term;
  }),
  spent(wire) {
    const spent = list(maxRows, readSpent)(wire);
    check(new Set(spent.map(({ id }) => id)).size === spent.length);
    return spent;
  },
  states: named(readState),
  lost: optional(readFailures),
  refusals: named(readRefusal),
  later: optional(hinted(object<Later>({ until: count, at: count, ...hint }))),
  retries: optional(object<Streak & { readonly id: string }>({ ...streak, id: text })),
  tokens: list(maxNames, readToken),
  log: list(1_000, readNote),
  quota: optional(object<QuotaSaid>({ askedAt: count, at: count, figures: list(maxQuotas, readQuota) })),
});

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

/** The compiler finds a word that is missing. */
function oneOf<Word extends string>(words: Readonly<Record<Word, true>>): Read<Word> {
  return (wire) => {
    check(typeof wire === 'string' && Object.hasOwn(words, wire));
    return wire as Word;
  };
}

function exactly<Value extends boolean>(value: Value): Read<Value> {
  return (wire) => {
    check(wire === value);
    return value;
  };
}

function optional<Part>(read: Read<Part>): Read<Part | undefined> {
  return (wire) => (wire === undefined ? undefined : read(wire));
}

function list<Part>(most: number, read: Read<Part>): Read<Part[]> {
  return (wire) => {
    check(Array.isArray(wire) && wire.length <= most);
    return wire.map((part) => read(part));
  };
}

/**
 * Members that are not in the shape are left out. Those that are missing are undefined, whatever a
 * polluted prototype has.
 */
function object<Part>(shape: Shape<Part>): Read<Part> {
  const members = Object.entries(shape) as [string, Read<unknown>][];
  return (wire) => {
    checkObject(wire);
    const own = (name: string) => (Object.hasOwn(wire, name) ? wire[name] : undefined);
    return Object.fromEntries(members.map(([name, read]) => [name, read(own(name))])) as Part;
  };
}

function named<Part>(read: Read<Part>): Read<Readonly<Record<string, Part>>> {
  return (wire) => {
    checkObject(wire);
    const members = Object.entries(wire);
    check(members.length <= maxNames);
    const found: Record<string, Part> = Object.create(null);
    for (const [name, part] of members) found[name] = read(part);
    return found;
  };
}

function checkObject(wire: unknown): asserts wire is Readonly<Record<string, unknown>> {
  check(wire === Object(wire) && !Array.isArray(wire));
}

/**
 * The CRC-32 of each byte, and of each byte that one, two or three others follow. With these tables
 * two code units take one step, because every read computes the checksum.
 */
const [crcOfLast, crcOfThird, crcOfSecond, crcOfFirst] = [8, 16, 24, 32].map((bits) =>
  Uint32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < bits; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
    return crc;
  }),
) as [Uint32Array, Uint32Array, Uint32Array, Uint32Array];

/**
 * Computes the CRC-32 of the UTF-16 code units. It finds flipped bits and incomplete writes. It
 * does not stop an attacker.
 */
export function checksum(text: string): string {
  let crc = -1;
  const even = text.length & ~1;
  for (let index = 0; index < even; index += 2) {
    const mixed = crc ^ (text.charCodeAt(index) | (text.charCodeAt(index + 1) << 16));
    const first = (crcOfFirst[mixed & 0xff] as number) ^ (crcOfSecond[(mixed >>> 8) & 0xff] as number);
    crc = first ^ (crcOfThird[(mixed >>> 16) & 0xff] as number) ^ (crcOfLast[mixed >>> 24] as number);
  }
  if (even < text.length) {
    const mixed = crc ^ text.charCodeAt(even);
    crc = (mixed >>> 16) ^ (crcOfThird[mixed & 0xff] as number) ^ (crcOfLast[(mixed >>> 8) & 0xff] as number);
  }
  return (~crc >>> 0).toString(16).padStart(8, '0');
}
