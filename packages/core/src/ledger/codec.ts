import type { IssuanceReason } from '../events.ts';
import {
  type Condensed,
  detailed,
  type Failures,
  type LedgerEntry,
  type LedgerRecord,
  type Refusal,
  type Slot,
  type StoredToken,
} from './record.ts';

const header = 'service-auth/1 ';
const reasons: readonly IssuanceReason[] = ['cold', 'refresh', 'expired', 'rejected', 'reset'];
const longest = 4_000_000;
/** The text that a store keeps: version, checksum, JSON. Entries name instances and audiences by index, for they repeat. */
export function encodeRecord(record: LedgerRecord): string {
  const names: string[] = [];
  const indexOf = (name: string): number => {
    const index = names.indexOf(name);
    return index < 0 ? names.push(name) - 1 : index;
  };
  const { entries, condensed, ...rest } = record;
  const json = JSON.stringify({
    ...rest,
    entries: entries.map((entry) => [
      entry.id,
      entry.at,
      Number(entry.pending),
      reasons.indexOf(entry.reason),
      indexOf(entry.instance),
      indexOf(entry.audience),
    ]),
    condensed: condensed.map((bucket) => [bucket.at, Number(bucket.pending), bucket.count]),
    names,
  });
  return `${header}${checksum(json)} ${json}`;
}

/** What {@link encodeRecord} wrote, or why it cannot be trusted. Nothing in it is believed unchecked. */
export function decodeRecord(text: string): LedgerRecord | 'damaged' | 'unknown version' {
  if (!text.startsWith(header)) return /^service-auth\/\d{1,6} /.test(text) ? 'unknown version' : 'damaged';
  const json = text.slice(header.length + 9);
  if (text.length > longest || text.slice(0, -json.length) !== `${header}${checksum(json)} `) return 'damaged';
  try {
    return readRecord(JSON.parse(json));
  } catch {
    return 'damaged';
  }
}

function readRecord(wire: unknown): LedgerRecord {
  const names = list(field(wire, 'names'), 2 * detailed, (name) => text(name));
  const entries = list(field(wire, 'entries'), detailed, (entry) => readEntry(entry, names));
  if (new Set(entries.map((entry) => entry.id)).size < entries.length) throw damaged();
  return {
    epoch: text(field(wire, 'epoch')),
    sequence: count(field(wire, 'sequence')),
    bornAt: count(field(wire, 'bornAt')),
    highWaterAt: count(field(wire, 'highWaterAt')),
    entries,
    condensed: list(field(wire, 'condensed'), 2_000, readCondensed),
    slots: list(field(wire, 'slots'), 10_000, readSlot),
    failures: optional(field(wire, 'failures'), readFailures),
    rateLimit: optional(field(wire, 'rateLimit'), readSpacing),
    rejections: readSpacing(field(wire, 'rejections')),
  };
}

function readEntry(wire: unknown, names: readonly string[]): LedgerEntry {
  const [id, at, pending, reason, instance, audience] = list(wire, 6, (part) => part);
  return {
    id: text(id),
    at: count(at),
    pending: flag(pending),
    reason: known(reasons[count(reason)]),
    instance: known(names[count(instance)]),
    audience: known(names[count(audience)]),
  };
}

function readCondensed(wire: unknown): Condensed {
  const [at, pending, entries] = list(wire, 3, (part) => part);
  return { at: count(at), pending: flag(pending), count: count(entries) };
}

function readSlot(wire: unknown): Slot {
  return {
    audience: text(field(wire, 'audience')),
    keyId: text(field(wire, 'keyId')),
    generation: count(field(wire, 'generation')),
    revoked: count(field(wire, 'revoked')),
    settled: count(field(wire, 'settled')),
    token: optional(field(wire, 'token'), readToken),
    lease: optional(field(wire, 'lease'), (lease) => ({
      id: text(field(lease, 'id')),
      until: count(field(lease, 'until')),
    })),
    renewAfter: count(field(wire, 'renewAfter')),
    unreadableUntil: count(field(wire, 'unreadableUntil')),
    refused: optional(field(wire, 'refused'), readRefusal),
  };
}

function readToken(wire: unknown): StoredToken {
  return {
    id: text(field(wire, 'id')),
    generation: count(field(wire, 'generation')),
    expiresAt: count(field(wire, 'expiresAt')),
    lifetimeMs: count(field(wire, 'lifetimeMs')),
    sealed: text(field(wire, 'sealed'), 40_000),
  };
}

function readRefusal(wire: unknown): Refusal {
  return {
    ...readSpacing(wire),
    secretId: text(field(wire, 'secretId')),
    status: count(field(wire, 'status')),
    oauthError: optional(field(wire, 'oauthError'), text),
  };
}

function readFailures(wire: unknown): Failures {
  return {
    ...readSpacing(wire),
    ambiguous: flag(Number(field(wire, 'ambiguous'))),
    status: optional(field(wire, 'status'), count),
    reason: optional(field(wire, 'reason'), text),
  };
}

function readSpacing(wire: unknown): { count: number; retryAt: number } {
  return { count: count(field(wire, 'count')), retryAt: count(field(wire, 'retryAt')) };
}

function field(wire: unknown, name: string): unknown {
  if (typeof wire !== 'object' || wire === null) throw damaged();
  return Object.hasOwn(wire, name) ? (wire as Record<string, unknown>)[name] : undefined;
}

function list<Part>(wire: unknown, most: number, read: (part: unknown) => Part): Part[] {
  if (!Array.isArray(wire) || wire.length > most) throw damaged();
  return wire.map((part) => read(part));
}

function optional<Part>(wire: unknown, read: (part: unknown) => Part): Part | undefined {
  return wire === undefined ? undefined : read(wire);
}

function text(wire: unknown, most = 1_024): string {
  if (typeof wire !== 'string' || wire.length > most) throw damaged();
  return wire;
}

function count(wire: unknown): number {
  if (!Number.isSafeInteger(wire) || (wire as number) < 0) throw damaged();
  return wire as number;
}

function flag(wire: unknown): boolean {
  if (wire !== 0 && wire !== 1) throw damaged();
  return wire === 1;
}

function known<Part>(part: Part | undefined): Part {
  if (part === undefined) throw damaged();
  return part;
}

function damaged(): RangeError {
  return new RangeError('damaged');
}

/** CRC-32 (ISO-HDLC) of the UTF-16 code units: finds every flipped bit and every torn write. It is no defence against an author. */
function checksum(text: string): string {
  let crc = -1;
  for (let index = 0; index < text.length; index++) {
    crc ^= text.charCodeAt(index);
    for (let bit = 0; bit < 16; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (~crc >>> 0).toString(16).padStart(8, '0');
}
