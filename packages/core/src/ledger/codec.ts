import { checksum } from './checksum.ts';
import { type OAuthErrorCode, oauthErrorCode } from './oauth-error.ts';
import { count, countOrZero, demand, flag, list, listOf, optional, type Reader, text } from './readers.ts';
import {
  type AudienceState,
  type Condensed,
  type CredentialsBackoff,
  type Deaths,
  type DeclaredTerm,
  type Failures,
  type Fingerprint,
  type IssuanceReason,
  type LedgerEntry,
  type LedgerRecord,
  maxDetailedEntries,
  maxFingerprints,
  maxResets,
  type ResetEntry,
  type Retry,
  type StoredToken,
} from './record.ts';
import { maxTerms } from './terms.ts';

const header = 'service-auth/2 ';
const reasons: readonly IssuanceReason[] = ['cold', 'refresh', 'expired', 'rejected', 'reset'];
const maxLength = 4_000_000;
// A reservation and the second token that it may be charged with come on top.
const maxEntries = maxDetailedEntries + 2;
// Sixteen terms have 97 spans each, and eight days have 192 hours, for pending and for settled entries.
const maxCondensed = 4_000;
const maxAudiences = 10_000;

// These fields have another name in the stored text, which must not change when a name in the code does.
const storedNames = new Map([
  ['audiences', 'slots'],
  ['credentialsBackoff', 'refused'],
]);
const storedName = (name: string): string => storedNames.get(name) ?? name;

/**
 * Writes a record as the text that a store keeps: version, checksum, JSON. Names of instances and audiences repeat, so the text contains their index
 * in a list. A number that is 0 is left out.
 */
export function encodeRecord(record: LedgerRecord): string {
  const names = new Map<string, number>();
  const indexOf = (name: string): number => {
    const index = names.get(name) ?? names.size;
    names.set(name, index);
    return index;
  };
  const storedReset = ({ id, at, audience, tokenId, instance, reason }: ResetEntry) => [
    id,
    at,
    indexOf(audience),
    tokenId ?? null,
    indexOf(instance),
    reason ?? null,
  ];
  const json = toJson({
    ...stored({ ...record, deaths: stored(record.deaths) }),
    terms: record.terms.map(({ tokens, windowMs, reserve, seenAt, by }) => [
      tokens,
      windowMs,
      reserve,
      seenAt,
      indexOf(by),
    ]),
    [storedName('audiences')]: record.audiences.map((state) => stored({ ...state, audience: indexOf(state.audience) })),
    entries: record.entries.map(({ id, at, pending, reason, instance, audience }) => [
      id,
      at,
      pending,
      reasons.indexOf(reason),
      indexOf(instance),
      indexOf(audience),
    ]),
    condensed: record.condensed.map(({ at, pending, count }) => [at, pending, count]),
    // Most records have none.
    resets: record.resets.length === 0 ? undefined : record.resets.map(storedReset),
    names: [...names.keys()],
  });
  return `${header}${checksum(json)} ${json}`;
}

function stored(part: object): object {
  const kept = Object.entries(part).filter(([name, value]) => value !== 0 || name === 'audience');
  return Object.fromEntries(kept.map(([name, value]) => [storedName(name), value]));
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

// Another version of this package, or an attacker with access to the store, may have written any text.
const oauthError: Reader<OAuthErrorCode> = (wire) => oauthErrorCode(text(wire));

const orNull: Reader<string | undefined> = (wire) => (wire === null ? undefined : text(wire));

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

/** The state of an audience in the stored text, which has an index in place of its name. */
type StoredState = Omit<AudienceState, 'audience'> & { readonly audience: number };

const state = object<StoredState>({
  audience: count,
  keyId: text,
  revoked: countOrZero,
  token: optional(token),
  lease: optional(object({ id: text, generation: count, until: count })),
  renewAfter: countOrZero,
  unreadableUntil: countOrZero,
  credentialsBackoff: optional(
    object<CredentialsBackoff>({ ...spacing, secretId: text, status: count, oauthError: optional(oauthError) }),
  ),
  fingerprints: optional(listOf(object<Fingerprint>({ hash: text, generation: count, until: count }), maxFingerprints)),
});

const calm = { count: countOrZero, retryAt: countOrZero };

/** The parts of the stored text that are read with the list of names. */
interface Indexed {
  readonly terms: readonly unknown[];
  readonly entries: readonly unknown[];
  readonly condensed: readonly unknown[];
  readonly audiences: readonly StoredState[];
  readonly resets: readonly unknown[];
  readonly names: readonly string[];
}

const shape = object<Omit<LedgerRecord, keyof Indexed> & Indexed>({
  epoch: text,
  sequence: countOrZero,
  terms: listOf((wire) => wire, maxTerms),
  completeSince: countOrZero,
  highWaterAt: countOrZero,
  entries: listOf((wire) => wire, maxEntries),
  condensed: listOf((wire) => wire, maxCondensed),
  audiences: listOf(state, maxAudiences),
  failures: optional(
    object<Failures>({
      ...spacing,
      failedAt: count,
      audience: text,
      shared: flag,
      toldUntil: optional(count),
      probeAt: optional(count),
      ambiguous: flag,
      status: optional(count),
      reason: optional(text),
    }),
  ),
  rateLimit: optional(object(spacing)),
  deaths: object<Deaths>({ ...calm, countedUntil: countOrZero }),
  resets: (wire) => list(wire ?? [], maxResets),
  retry: optional(object<Retry>({ ...spacing, openUntil: count, id: optional(text) })),
  names: listOf(text, 2 * (maxEntries + maxResets) + maxAudiences + maxTerms),
});

function readRecord(wire: unknown): LedgerRecord {
  const { names, terms, entries, condensed, audiences, resets, ...rest } = shape(wire);
  const known = <Value>(values: readonly Value[], index: unknown): Value => {
    const value = values[count(index)];
    demand(value !== undefined);
    return value;
  };
  const record = {
    ...rest,
    terms: terms.map((part): DeclaredTerm => {
      const [tokens, windowMs, reserve, seenAt, by] = list(part, 5);
      const term = { tokens: count(tokens), windowMs: count(windowMs), reserve: count(reserve) };
      demand(term.reserve < term.tokens && term.windowMs > 0);
      return { ...term, seenAt: count(seenAt), by: known(names, by) };
    }),
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
    resets: resets.map((part): ResetEntry => {
      const [id, at, audience, tokenId, instance, reason] = list(part, 6);
      return {
        id: text(id),
        at: count(at),
        audience: known(names, audience),
        tokenId: orNull(tokenId),
        instance: known(names, instance),
        reason: orNull(reason),
      };
    }),
    audiences: audiences.map((state): AudienceState => ({ ...state, audience: known(names, state.audience) })),
  };
  demand(new Set(record.entries.map(({ id }) => id)).size === record.entries.length);
  return record;
}
