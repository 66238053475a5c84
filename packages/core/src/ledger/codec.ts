import { checksum } from './checksum.ts';
import { type OAuthErrorCode, oauthErrorCode } from './oauth-error.ts';
import {
  count,
  countOrZero,
  demand,
  flag,
  listOf,
  name,
  object,
  oneOf,
  optional,
  type PartCodec,
  row,
  text,
} from './part-codecs.ts';
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
  type SpentElsewhere,
  type StoredToken,
} from './record.ts';
import { maxTerms } from './terms.ts';

const header = 'service-auth/2 ';
const maxLength = 4_000_000;
// A reservation and the second token that it may be charged with come on top.
const maxEntries = maxDetailedEntries + 2;
// Sixteen terms have 97 spans each, and eight days have 192 hours, for pending and for settled entries.
const maxCondensed = 4_000;
const maxAudiences = 10_000;

// Another version of this package, or an attacker with access to the store, may have written any text.
const oauthError: PartCodec<OAuthErrorCode> = {
  read: (wire, names) => oauthErrorCode(text.read(wire, names)),
  write: (code) => code,
};

const declared = row<DeclaredTerm>({ tokens: count, windowMs: count, reserve: count, seenAt: count, by: name });

const term: PartCodec<DeclaredTerm> = {
  ...declared,
  read(wire, names) {
    const part = declared.read(wire, names);
    demand(part.reserve < part.tokens && part.windowMs > 0);
    return part;
  },
};

const reason = oneOf<IssuanceReason>(['cold', 'refresh', 'expired', 'rejected', 'reset']);

const resets = listOf(
  row<ResetEntry>({
    id: text,
    at: count,
    audience: name,
    tokenId: optional(text, null),
    instance: name,
    reason: optional(text, null),
  }),
  maxResets,
);

const spacing = { count, retryAt: count };

const shape = object<LedgerRecord>({
  epoch: text,
  sequence: countOrZero,
  terms: listOf(term, maxTerms),
  completeSince: countOrZero,
  highWaterAt: countOrZero,
  entries: listOf(
    row<LedgerEntry>({ id: text, at: count, pending: flag, reason, instance: name, audience: name }),
    maxEntries,
  ),
  condensed: listOf(row<Condensed>({ at: count, pending: flag, count }), maxCondensed),
  audiences: listOf(
    object<AudienceState>({
      audience: name,
      keyId: text,
      revoked: countOrZero,
      token: optional(
        object<StoredToken>({
          id: text,
          generation: count,
          expiresAt: count,
          aheadMs: optional(count),
          lifetimeMs: count,
          sealed: text,
        }),
      ),
      lease: optional(object({ id: text, generation: count, until: count })),
      renewAfter: countOrZero,
      unreadableUntil: countOrZero,
      credentialsBackoff: optional(
        object<CredentialsBackoff>({
          ...spacing,
          secretId: text,
          status: count,
          oauthError: optional(oauthError),
          instance: optional(text),
          failedAt: optional(count),
        }),
      ),
      fingerprints: optional(
        listOf(object<Fingerprint>({ hash: text, generation: count, until: count }), maxFingerprints),
      ),
    }),
    maxAudiences,
  ),
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
  deaths: object<Deaths>({ count: countOrZero, retryAt: countOrZero, countedUntil: countOrZero }),
  // Most records have none.
  resets: {
    read: (wire, names) => resets.read(wire ?? [], names),
    write: (parts, indexOf) => (parts.length > 0 ? resets.write(parts, indexOf) : undefined),
  },
  retry: optional(object<Retry>({ ...spacing, openUntil: count, id: optional(text) })),
  spentElsewhere: optional(object<SpentElsewhere>({ at: count, count, instance: text, reason: text })),
});

const list = object({ names: listOf(text, 2 * (maxEntries + maxResets) + maxAudiences + maxTerms) });

/** Writes a record as the text that a store keeps: version, checksum, JSON. */
export function encodeRecord(record: LedgerRecord): string {
  const names = new Map<string, number>();
  const indexOf = (name: string): number => {
    const index = names.get(name) ?? names.size;
    if (index === names.size) names.set(name, index);
    return index;
  };
  const json = toJson({ ...(shape.write(record, indexOf) as object), names: [...names.keys()] });
  return `${header}${checksum(json)} ${json}`;
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

function readRecord(wire: unknown): LedgerRecord {
  const { names } = list.read(wire, []);
  const record = shape.read(wire, names);
  demand(new Set(record.entries.map(({ id }) => id)).size === record.entries.length);
  return record;
}
