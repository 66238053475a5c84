import fc from 'fast-check';
import { isOneRequest, type LedgerRecord, type Quota, type Spent } from '../../../src/ledger/record.ts';
import { day, hour, minute, noon } from '../../support/instants.ts';
import { recordWith } from './records.ts';

/** The names of tokens in a record. */
export const names = ['orders', 'invoices', 'stock', '__proto__'] as const;

const maybe = <Value>(values: fc.Arbitrary<Value>) => fc.option(values, { nil: undefined });
const name = fc.constantFrom(...names);
const keyId = fc.constantFrom('key', 'another key');
const instance = fc.constantFrom('one process', 'another process');
const few = fc.integer({ min: 1, max: 12 });
const status = fc.constantFrom(400, 401, 403, 404, 503);
// Most of what matters happened lately.
const past = fc.oneof(
  fc.integer({ min: noon - 2 * day, max: noon }),
  fc.integer({ min: noon - hour, max: noon }),
  fc.constant(noon),
);
const ahead = fc.integer({ min: noon - hour, max: noon + 25 * hour });
const distinct = <Part>(parts: fc.Arbitrary<Part>, nameOf: (part: Part) => unknown, maxLength = 4) =>
  fc.uniqueArray(parts, { maxLength, selector: (part) => JSON.stringify(nameOf(part)), size: 'max' });

const hint = {
  kind: fc.constantFrom('unreached', 'unknown', 'died', 'refused'),
  status: maybe(status),
  code: maybe(fc.constantFrom('server_error', 'invalid_client')),
};
const failures = fc.record({ count: few, at: past, ...hint });
const refusal = fc.record({ count: few, at: past, status, code: maybe(fc.constant('other')), name, keyId, instance });
const refusals = fc.dictionary(fc.constantFrom('secret', 'another secret', '*'), refusal, { maxKeys: 2 });

const outcome = fc.constantFrom('issued', 'unknown', 'unknown', 'open', 'refused', 'sum', 'stated');
const spent = fc
  .record({
    ...{ salt: fc.nat({ max: 999 }), at: past, name, keyId, instance, outcome, tokens: few },
    ...{ reason: fc.constantFrom('cold', 'refresh', 'expired', 'rejected', 'reset'), knownMs: fc.nat(minute) },
    died: maybe(fc.constant(true as const)),
  })
  .map(({ salt, outcome: kind, knownMs, tokens, ...request }): Spent => {
    const at = Math.min(noon, request.at + knownMs);
    const generation = request.at + salt;
    const row = { ...request, id: `request ${generation}`, generation };
    const nobody = { name: '', keyId: '', instance: '' };
    if (kind === 'sum') {
      const reason = row.reason === 'rejected' ? row.reason : 'several';
      return { ...row, ...nobody, reason, ...(knownMs % 2 ? { issuedAt: at } : {}), tokens };
    }
    if (kind === 'stated') return { ...row, ...nobody, id: 'stated', reason: kind, issuedAt: at, tokens };
    // What the renewal of a token that died ends when it lapses, an older memory brings back once more.
    if (kind === 'open') return { ...row, died: undefined, at: noon, until: noon + 1 + knownMs };
    return { ...row, ...(kind === 'issued' && { issuedAt: at }), ...(kind === 'refused' && { refusedAt: at }) };
  });
const term = fc.record({
  tokens: fc.integer({ min: 8, max: 200 }),
  windowMs: fc.constantFrom(10 * minute, hour, day),
  reserve: fc.integer({ min: 0, max: 7 }),
  counts: maybe(fc.constant('requests' as const)),
  seenAt: past,
  by: instance,
});
const token = fc.record({
  ...{ name, keyId, id: fc.string(), generation: past, expiresAt: ahead, lifetimeMs: fc.integer({ min: 1, max: day }) },
  ...{ sealed: fc.string(), hash: maybe(fc.string()), expiredBy: maybe(ahead), renewAfter: maybe(ahead) },
});
const state = fc.record({
  failures: maybe(failures),
  refusals: maybe(refusals),
  rejections: maybe(fc.record({ count: few, at: past })),
  resetUpTo: maybe(past),
  resetHash: maybe(fc.string()),
});
const note = fc.record({
  ...{ id: fc.string(), at: past, kind: fc.constantFrom('reset', 'retry', 'spent'), by: instance },
  ...{ name: maybe(name), reason: maybe(fc.string()), tokenId: maybe(fc.string()) },
});
const quota: fc.Arbitrary<Quota> = fc.record({
  windowMs: fc.nat(),
  tokens: fc.nat(),
  remaining: fc.nat(),
  endsInMs: fc.nat(),
});

const parts = {
  ...{ completeSince: fc.oneof(past, fc.constant(noon - 30 * day)), movedMs: fc.oneof(past, fc.constant(0)) },
  limits: distinct(term, ({ tokens, windowMs, reserve, counts }) => [tokens, windowMs, reserve, counts]),
  spent: distinct(spent, ({ id }) => id, 60),
  states: fc.dictionary(name, state, { noNullPrototype: false }),
  lost: maybe(failures),
  refusals: fc.oneof({ arbitrary: fc.constant({}), weight: 3 }, refusals),
  later: maybe(fc.record({ until: ahead, at: past, ...hint })),
  retries: maybe(fc.record({ count: few, at: past, id: fc.string() })),
  tokens: distinct(token, (one) => [one.name, one.keyId]),
  log: distinct(note, ({ id }) => id),
  quota: maybe(fc.record({ askedAt: past, at: past, figures: fc.array(quota, { maxLength: 2 }) })),
} as unknown as { [Part in keyof LedgerRecord]: fc.Arbitrary<LedgerRecord[Part]> };

/** Any record at noon, also one that no history brings about. */
export const anyRecord: fc.Arbitrary<LedgerRecord> = fc.record(parts).map(({ spent: rows, limits, log, ...record }) => {
  const sorted = { limits: [...limits].sort((a, b) => b.seenAt - a.seenAt), log: [...log].sort((a, b) => a.at - b.at) };
  // A sum has all that is older.
  const sums = rows.filter((one) => !isOneRequest(one) && one.reason !== 'stated');
  const summedUpTo = Math.max(...sums.map(({ generation }) => generation));
  const kept = rows.filter((one) => !isOneRequest(one) || one.generation > summedUpTo);
  return recordWith(kept, { ...record, ...sorted });
});
