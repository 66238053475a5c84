import fc from 'fast-check';
import { countOf, partsOf } from '../../../src/ledger/count.ts';
import type { Quota } from '../../../src/ledger/journal.ts';
import { type DeclaredTerm, type LedgerRecord, newRecord, type Term } from '../../../src/ledger/journal.ts';
import {
  type Limits,
  limitsFor,
  type StoreDurability,
  type TermLimits,
  termLimits,
} from '../../../src/ledger/limits.ts';
import { day } from '../../support/instants.ts';

/** The seed of all properties: another one with `SEED=…`. */
export const seed: number = Number(process.env['SEED'] ?? 20_260_101);
fc.configureGlobal({ seed });

/** So many random pairs and triples keep the laws. `LAWS=100000` tries more. */
export const laws: number = Number(process.env['LAWS'] ?? 1_000);

/** The same text for equal records, in whatever order their members come, and whether or not an absent one is named. */
export function canonical(value: unknown): string {
  if (value !== Object(value)) return JSON.stringify(value) ?? '';
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const members = Object.entries(value as object).filter(([, member]) => member !== undefined);
  return `{${members
    .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`)
    .sort()
    .join()}}`;
}

/** The limits of an agreement with one window. */
export function oneWindow(
  tokens: number,
  windowMs: number = day,
  reserve?: number,
  durability: StoreDurability = 'durable',
): Limits {
  return limitsFor([{ tokens, windowMs }], reserve, durability);
}

/** The numbers of the first term. */
export function termOf({ terms: [term], durability }: Limits): TermLimits {
  if (!term) throw new Error('there is no term');
  return termLimits(term, durability);
}

/** A term as another process declared it. */
export function declaredBy(by: string, term: Term, seenAt: number): DeclaredTerm {
  return { ...term, seenAt, by };
}

/** Returns how many tokens count in the first term. */
export function used(record: LedgerRecord, now: number, limits: Limits): number {
  return countOf(partsOf(record, now, termOf(limits)));
}

const small = fc.integer({ min: 0, max: 9 });
const name = fc.constantFrom('a', 'b', 'c', '__proto__');
const kind = fc.constantFrom('issued', 'unknown', 'refused', 'unreached', 'unsent', 'later', 'other');
const unknown = fc.option(
  fc.dictionary(fc.constantFrom('x', 'y', '__proto__'), fc.jsonValue({ maxDepth: 1 }), { minKeys: 1, maxKeys: 2 }),
  { nil: undefined },
);
const maybe = <Value>(values: fc.Arbitrary<Value>) => fc.option(values, { nil: undefined });
const ends = maybe(fc.array(fc.jsonValue({ maxDepth: 1 }), { minLength: 1, maxLength: 2 }));

const quota = fc.array(small, { minLength: 4, maxLength: 5 }).map((numbers) => numbers as unknown as Quota);
const outcome = fc.record({
  kind,
  at: small,
  charge: small,
  status: maybe(small),
  code: maybe(fc.constantFrom('server_error', 'other')),
  toldUntil: maybe(small),
  holdUntil: maybe(small),
  count: maybe(small),
  more: unknown,
});
const attempt = fc.record({
  ...{ id: name, epoch: name, generation: small, audience: name, keyId: name, secretId: name, instance: name },
  ...{
    reason: fc.constantFrom('cold', 'rejected', 'later'),
    at: small,
    until: small,
    streak: small,
    fleetStreak: small,
  },
  ...{ outcome: maybe(outcome), more: ends },
});
const term = fc.record({
  tokens: fc.integer({ min: 5, max: 6 }),
  windowMs: fc.integer({ min: 1, max: 2 }),
  reserve: fc.integer({ min: 0, max: 1 }),
  seenAt: small,
  by: name,
  more: ends,
});
const bucket = fc.record({ epoch: name, slot: small, unknown: fc.boolean(), last: small, count: small });
const order = fc.record({
  id: name,
  at: small,
  kind: fc.constantFrom('retry', 'reset', 'spent', 'later'),
  by: name,
  audience: maybe(name),
  tokens: maybe(small),
  more: unknown,
});
const token = fc.record({
  audience: name,
  keyId: name,
  id: name,
  generation: small,
  expiresAt: small,
  aheadMs: small,
  lifetimeMs: small,
  sealed: name,
  hash: maybe(name),
  expiredBy: maybe(fc.integer({ min: 1, max: 9 })),
  resetHash: maybe(name),
  more: ends,
});
const numbers = fc
  .dictionary(name, small, { noNullPrototype: false })
  .map((found) => Object.assign(Object.create(null), found));
const distinct = <Part>(parts: fc.Arbitrary<Part>, nameOf: (part: Part) => unknown) =>
  fc.uniqueArray(parts, { maxLength: 4, selector: (part) => JSON.stringify(nameOf(part)) });

/** Any record, also one that no history brings about. */
export const anyRecord: fc.Arbitrary<LedgerRecord> = fc
  .record({
    ...{
      epoch: name,
      sequence: small,
      completeSince: small,
      highWaterAt: small,
      era: small,
      leaptMs: small,
      folded: numbers,
      revoked: numbers,
      quota: maybe(fc.record({ askedAt: small, at: small, figures: fc.array(quota, { maxLength: 2 }) })),
      more: unknown,
    },
    terms: distinct(term, ({ tokens, windowMs, reserve }) => [tokens, windowMs, reserve]),
    attempts: distinct(attempt, ({ id }) => id),
    buckets: distinct(bucket, ({ epoch, slot, unknown }) => [epoch, slot, unknown]),
    orders: distinct(order, ({ id }) => id),
    tokens: distinct(token, ({ audience, keyId }) => [audience, keyId]),
  })
  .map((record) => ({ ...newRecord('', 0), ...record }));
