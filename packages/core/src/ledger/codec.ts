import { type OAuthErrorCode, oauthErrorCode } from './oauth-error.ts';
import {
  type AudienceState,
  type Condensed,
  type CredentialsBackoff,
  type Deaths,
  type Failures,
  type IssuanceReason,
  type LedgerEntry,
  type LedgerRecord,
  maxDetailedEntries,
  type StoredToken,
} from './record.ts';

const header = 'service-auth/1 ';
const reasons: readonly IssuanceReason[] = ['cold', 'refresh', 'expired', 'rejected', 'reset'];
const maxLength = 4_000_000;
// A reservation and the second token that it may be charged with come on top.
const maxEntries = maxDetailedEntries + 2;
// A Date shows instants up to 8.64e15. The difference is room for clocks that differ.
const maxInstant = 8e15;

// These fields have another name in the stored text, which must not change when a name in the code does.
const storedNames = new Map([
  ['audiences', 'slots'],
  ['credentialsBackoff', 'refused'],
]);
const storedName = (name: string): string => storedNames.get(name) ?? name;

/** Writes a record as the text that a store keeps: version, checksum, JSON. Instances and audiences repeat, so entries contain their index. */
export function encodeRecord(record: LedgerRecord): string {
  const names: string[] = [];
  const indexOf = (name: string): number => {
    const index = names.indexOf(name);
    return index < 0 ? names.push(name) - 1 : index;
  };
  const json = toJson({
    ...stored({ ...record, audiences: record.audiences.map(stored) }),
    entries: record.entries.map(({ id, at, pending, reason, instance, audience }) => [
      id,
      at,
      pending,
      reasons.indexOf(reason),
      indexOf(instance),
      indexOf(audience),
    ]),
    condensed: record.condensed.map(({ at, pending, count }) => [at, pending, count]),
    names,
  });
  return `${header}${checksum(json)} ${json}`;
}

function stored(part: object): object {
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [storedName(name), value]));
}

function toJson(value: object): string {
  // An array inherits from the prototype of objects, too.
  return JSON.stringify('toJSON' in [] ? withoutToJson(value) : value);
}

/** A copy in which each object and array has a `toJSON` of its own, so that none is found on a prototype. It is no function, so nobody calls it. */
function withoutToJson(part: unknown): unknown {
  if (part !== Object(part)) return part;
  const parts = Object.entries(part as object).map(([name, value]) => [name, withoutToJson(value)] as const);
  const copy = Array.isArray(part) ? parts.map(([, value]) => value) : Object.fromEntries(parts);
  return Object.defineProperty(copy, 'toJSON', Object.assign(Object.create(null), { value: undefined }));
}

/** Reads a text of {@link encodeRecord} and checks every part of it. Returns why the text cannot be trusted, if it cannot. */
export function decodeRecord(text: string): LedgerRecord | 'damaged' | 'unknown version' {
  if (!text.startsWith(header)) return /^service-auth\/\d{1,6} /.test(text) ? 'unknown version' : 'damaged';
  const json = text.slice(header.length + 9);
  if (text.length > maxLength || text !== `${header}${checksum(json)} ${json}`) return 'damaged';
  try {
    return readRecord(JSON.parse(json));
  } catch {
    return 'damaged';
  }
}

/** Reads one part of the parsed JSON. Throws if the part is damaged. */
type Reader<Part> = (wire: unknown) => Part;

function demand(condition: boolean): asserts condition {
  if (!condition) throw new RangeError('damaged');
}

const text: Reader<string> = (wire) => {
  demand(typeof wire === 'string' && wire.length <= 40_000);
  return wire;
};

// Another version of this package, or an attacker with access to the store, may have written any text.
const oauthError: Reader<OAuthErrorCode> = (wire) => oauthErrorCode(text(wire));

const count: Reader<number> = (wire) => {
  demand(Number.isInteger(wire) && (wire as number) >= 0 && (wire as number) <= maxInstant);
  return wire as number;
};

const flag: Reader<boolean> = (wire) => {
  demand(typeof wire === 'boolean');
  return wire;
};

const optional =
  <Part>(read: Reader<Part>): Reader<Part | undefined> =>
  (wire) =>
    wire === undefined ? undefined : read(wire);

const list = (wire: unknown, max: number): unknown[] => {
  demand(Array.isArray(wire) && wire.length <= max);
  return wire;
};

const listOf =
  <Part>(read: Reader<Part>, max: number): Reader<Part[]> =>
  (wire) =>
    list(wire, max).map((part) => read(part));

/** Reads an object with exactly these fields. Fields of a polluted prototype are ignored. A value that is no object has none of the fields. */
const object = <Whole extends object>(fields: { [Name in keyof Whole]-?: Reader<Whole[Name]> }): Reader<Whole> => {
  const readers = Object.entries<Reader<unknown>>(fields);
  return (wire) => {
    const own = Object(wire) as Record<string, unknown>;
    const entries = readers.map(([field, read]) => {
      const name = storedName(field);
      return [field, read(Object.hasOwn(own, name) ? own[name] : undefined)];
    });
    return Object.fromEntries(entries) as Whole;
  };
};

const spacing = { count, retryAt: count };

const token = object<StoredToken>({
  id: text,
  generation: count,
  expiresAt: count,
  aheadMs: optional(count),
  lifetimeMs: count,
  sealed: text,
});

const state = object<AudienceState>({
  audience: text,
  keyId: text,
  revoked: count,
  token: optional(token),
  lease: optional(object({ id: text, generation: count, until: count })),
  renewAfter: count,
  unreadableUntil: count,
  credentialsBackoff: optional(
    object<CredentialsBackoff>({ ...spacing, secretId: text, status: count, oauthError: optional(oauthError) }),
  ),
});

const shape = object<
  Omit<LedgerRecord, 'entries' | 'condensed'> & { entries: unknown[]; condensed: unknown[]; names: string[] }
>({
  epoch: text,
  sequence: count,
  bornAt: count,
  highWaterAt: count,
  entries: listOf((wire) => wire, maxEntries),
  condensed: listOf((wire) => wire, 2_000),
  audiences: listOf(state, 10_000),
  failures: optional(
    object<Failures>({
      ...spacing,
      probeAt: optional(count),
      ambiguous: flag,
      status: optional(count),
      reason: optional(text),
    }),
  ),
  rateLimit: optional(object(spacing)),
  rejections: object(spacing),
  deaths: object<Deaths>({ ...spacing, countedUntil: count }),
  names: listOf(text, 2 * maxEntries),
});

function readRecord(wire: unknown): LedgerRecord {
  const { names, entries, condensed, ...rest } = shape(wire);
  const known = <Value>(values: readonly Value[], index: unknown): Value => {
    const value = values[count(index)];
    demand(value !== undefined);
    return value;
  };
  const record = {
    ...rest,
    entries: entries.map((part): LedgerEntry => {
      const [id, at, pending, reason, instance, audience] = list(part, 6);
      return {
        id: text(id),
        at: count(at),
        pending: flag(pending),
        reason: known(reasons, reason),
        instance: known(names, instance),
        audience: known(names, audience),
      };
    }),
    condensed: condensed.map((part): Condensed => {
      const [at, pending, entries] = list(part, 3);
      return { at: count(at), pending: flag(pending), count: count(entries) };
    }),
  };
  demand(new Set(record.entries.map(({ id }) => id)).size === record.entries.length);
  return record;
}

/** The CRC-32 of each byte. The table saves seven of eight steps, because every read computes the checksum. */
const crcOfByte = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  return crc;
});

/** Computes the CRC-32 of the UTF-16 code units. It finds flipped bits and incomplete writes. It does not stop an attacker. */
function checksum(text: string): string {
  let crc = -1;
  const add = (byte: number) => {
    crc = (crc >>> 8) ^ (crcOfByte[(crc ^ byte) & 0xff] as number);
  };
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    add(unit);
    add(unit >>> 8);
  }
  return (~crc >>> 0).toString(16).padStart(8, '0');
}
