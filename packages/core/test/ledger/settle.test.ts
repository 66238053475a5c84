import { describe, expect, test } from 'vitest';
import { withReset } from '../../src/ledger/decide.ts';
import { type LedgerRecord, stateOf, tokenOf } from '../../src/ledger/record.ts';
import { type Answer, lapsed, settle } from '../../src/ledger/settle.ts';
import { day, hour, minute, noon, second } from '../support/instants.ts';
import {
  ambiguous,
  issued,
  openAt,
  recordWith,
  refused,
  several,
  tokenWith,
  unreachable,
  used,
  usual,
} from './support/records.ts';

const open = openAt(noon - second, { id: 'asked', generation: noon });
const before = recordWith([open]);
const settled = (answer: Answer, record = before, now = noon) => settle(record, now, open, answer);
const token = (fields = {}): Answer => ({ ...issued(open, noon), ...fields }) as Answer;

describe('an outcome', () => {
  test.each<[string, Answer, object[]]>([
    ['a token', token(), [{ issuedAt: noon, until: undefined }]],
    ['an unknown one', ambiguous(), [{ issuedAt: undefined, until: undefined }]],
    ['a refusal', refused(401)(), [{ refusedAt: noon, until: undefined }]],
    ['no connection', unreachable(), []],
    ['nothing was sent', { kind: 'unsent' }, []],
  ])('of a request: %s', (_, answer, spent) => {
    const once = settled(answer);
    expect(once.spent).toMatchObject(spent);
    expect(once.spent).toHaveLength(spent.length);
    expect(settled(answer, once, noon + minute)).toEqual(once);
  });

  test('of a request that the record lost is counted if a token may have been issued', () => {
    const lost = recordWith([]);
    expect(used(settled(token(), lost), noon, usual)).toBe(1);
    expect(used(settled(ambiguous(), lost), noon, usual)).toBe(1);
    for (const answer of [refused(401)(), unreachable(), { kind: 'unsent' } as const])
      expect(settled(answer, lost)).toBe(lost);
    // The store's clock was set back since.
    expect(settled(token(), lost, noon - hour).spent).toMatchObject([{ at: noon - hour, issuedAt: noon - hour }]);
  });

  test('that is a token stands, and one that is certain takes the place of one that is not', () => {
    const arrived = settled(token());
    for (const answer of [ambiguous(), refused(401)(), unreachable(), { kind: 'unsent' } as const])
      expect(settled(answer, arrived)).toBe(arrived);
    const unknown = settled(ambiguous());
    expect(settled(token(), unknown).spent).toMatchObject([{ issuedAt: noon }]);
    expect(settled(refused(401)(), unknown).spent).toMatchObject([{ refusedAt: noon }]);
    expect(settled(unreachable(), unknown).spent).toEqual([]);
    const refusal = settled(refused(401)());
    for (const answer of [ambiguous(), unreachable(), { kind: 'unsent' } as const])
      expect(settled(answer, refusal)).toBe(refusal);
    expect(settled(token(), refusal).spent).toMatchObject([{ issuedAt: noon, refusedAt: undefined }]);
  });

  test('leaves the requests in the order in which they were reserved', () => {
    const later = openAt(noon, { id: 'later', generation: noon + 1 });
    const { spent } = settled(token(), recordWith([open, later]));
    expect(spent.map(({ id }) => id)).toEqual(['asked', 'later']);
  });

  test('that the store hears of late was known six minutes after the request at the latest', () => {
    const late = (answer: Answer) => settle(before, noon + hour, open, answer);
    const knownAt = open.at + 6 * minute;
    expect(late(ambiguous())).toMatchObject({
      lost: { at: knownAt },
      states: { orders: { failures: { at: knownAt } } },
    });
    expect(late(refused(429, { retryAfterMs: 0.5 })()).later?.until).toBe(knownAt + 1);
  });
});

describe('a failure', () => {
  test('is remembered for the token, and for all if nobody knows what came of it', () => {
    const failures = { count: 1, at: noon, kind: 'unknown', status: 500 };
    expect(settled(ambiguous())).toMatchObject({ lost: failures, states: { orders: { failures } } });
    const unreached = settled({ ...unreachable(), status: 407 } as Answer);
    expect(unreached.states['orders']?.failures).toEqual({ count: 1, at: noon, kind: 'unreached', status: 407 });
    expect(unreached.lost).toBeUndefined();
  });

  test('of a process that died is one of unknown outcome, from its request on, and counts once', () => {
    const record = lapsed(before, open);
    const failures = { count: 1, at: open.at, knownAt: open.until, kind: 'died' };
    expect(record).toMatchObject({ lost: failures, states: { orders: { failures } } });
    expect(record.spent).toEqual([{ ...open, until: undefined }]);
    // It lives after all.
    for (const answer of [ambiguous(), unreachable()])
      expect(settled(answer, record, noon + minute).states['orders']?.failures).toEqual(failures);
  });

  test('of a process that lives after all, and got a token, holds up nobody', () => {
    const earlier = settled(ambiguous(), recordWith([openAt(noon - hour, { id: 'earlier', generation: 1 }), open]));
    const both = settle(
      earlier,
      noon - hour + second,
      openAt(noon - hour, { id: 'earlier', generation: 1 }),
      ambiguous(),
    );
    const alone = settled(token(), lapsed(before, open), noon + minute);
    expect(alone.lost).toMatchObject({ count: 0, at: 0 });
    // The pauses count from the latest request that was lost.
    const later = openAt(noon, { id: 'later', generation: noon + 1 });
    const record = lapsed({ ...both, spent: [...both.spent, later] }, later);
    expect(record.lost).toMatchObject({ at: noon });
    const found = settle(record, noon + minute, later, { ...token(), token: tokenWith({ id: 'later' }) } as Answer);
    expect(found.lost).toMatchObject({ count: 0, at: open.at });
  });

  test('ends with a token: that of the token, its refusals and those of its client', () => {
    const refusal = { count: 2, at: noon - hour, status: 401, name: 'orders', keyId: 'key', instance: 'process' };
    const failed: LedgerRecord = {
      ...before,
      lost: { count: 3, at: noon - hour, kind: 'unknown' },
      refusals: { secret: refusal, another: refusal, '*': refusal },
      states: {
        orders: { failures: { count: 3, at: noon - hour, kind: 'unknown' }, refusals: { secret: refusal } },
        invoices: { failures: { count: 1, at: noon, kind: 'unknown' }, refusals: { secret: refusal } },
      },
    };
    const after = settled(token(), failed);
    expect(after.lost).toEqual({ count: 0, at: noon - hour, kind: 'unknown' });
    expect(Object.keys(after.refusals)).toEqual(['another']);
    expect(after.states['orders']).toEqual({});
    expect(after.states['invoices']).toEqual(failed.states['invoices']);
    // Nobody knows which secret was sent. The address is right.
    const anonymous = settled(token({ secretId: undefined }), failed);
    expect(Object.keys(anonymous.refusals)).toEqual(['secret', 'another']);
  });
});

describe('a refusal', () => {
  test.each<[string, Answer, readonly string[], readonly string[]]>([
    ['of the client is remembered for its secret', refused(401)(), ['secret'], []],
    ['of a request is remembered for its token', refused(400, { oauthError: 'invalid_scope' })(), [], ['secret']],
    ['that is not about the secret is remembered for all', refused(404)(), [], ['*']],
    ['of a secret that nobody named is remembered for all', refused(401, { secretId: undefined })(), ['*'], []],
  ])('%s', (_, answer, client, ofToken) => {
    const record = settled(answer);
    expect(Object.keys(record.refusals)).toEqual(client);
    expect(Object.keys(stateOf(record, 'orders').refusals ?? {})).toEqual(ofToken);
  });

  test('of four secrets is remembered, of the newest ones', () => {
    let record = recordWith([]);
    for (const one of several(6, (index) => openAt(noon + index * minute, { id: `${index}` }))) {
      const reserved = recordWith([one], { refusals: record.refusals });
      record = settle(reserved, one.at, one, refused(401, { secretId: `secret ${one.id}` })());
    }
    expect(Object.keys(record.refusals)).toEqual(['secret 2', 'secret 3', 'secret 4', 'secret 5']);
  });

  test('of an earlier request that is answered later is one of the same time', () => {
    const one = openAt(noon - 3 * second, { id: 'one' });
    const other = openAt(noon - 2 * second, { id: 'other' });
    const first = settle(recordWith([one, other]), noon - second, other, refused(401)());
    expect(settle(first, noon, one, refused(401)()).refusals['secret']).toMatchObject({ count: 1, at: noon });
  });

  test('that says when to come back holds for all until then, and a quarter of an hour if it says none', () => {
    const until = (answer: Answer) => settled(answer).later?.until;
    expect(until(refused(429)())).toBe(noon + 15 * minute);
    expect(until(refused(429, { retryAfterMs: minute })())).toBe(noon + minute);
    expect(until(refused(404, { retryAfterMs: minute })())).toBe(noon + minute);
    expect(until(refused(404)())).toBeUndefined();
    expect(until({ ...unreachable(), retryAfterMs: minute } as Answer)).toBe(noon + minute);
    expect(until({ ...ambiguous(), retryAfterMs: minute } as Answer)).toBe(noon + minute);
    const told = { ...before, later: { until: noon + hour, at: noon - hour, kind: 'refused', status: 429 } as const };
    expect(settled(refused(429)(), told).later).toBe(told.later);
  });

  test('of the rate has no error code, and one of an outage has it', () => {
    const code = (cause: string, oauthError: string) =>
      settled(refused(400, { cause, oauthError, retryAfterMs: minute })()).later?.code;
    expect(code('rate_limited', 'slow_down')).toBeUndefined();
    expect(code('unavailable', 'server_error')).toBe('server_error');
  });
});

describe('a renewal after a 401', () => {
  const renewal = { ...open, reason: 'rejected' } as const;
  const rejections = (record: LedgerRecord, answer: Answer) =>
    settle({ ...record, spent: [renewal] }, noon, renewal, answer).states['orders']?.rejections;

  test('is counted from its request on, if a token may have been issued', () => {
    expect([token(), ambiguous()].map((answer) => rejections(before, answer))).toEqual([
      { count: 1, at: open.at },
      { count: 1, at: open.at },
    ]);
    expect([refused(403)(), unreachable()].map((answer) => rejections(before, answer))).toEqual([undefined, undefined]);
  });

  test('counts after an order to try again if it was reserved after that', () => {
    const ordered = (at: number) => ({ ...before, retries: { count: 1, at, id: 'order' } });
    expect([open.at, open.at + 1].map((at) => rejections(ordered(at), token())?.at)).toEqual([open.at + 1, open.at]);
  });
});

test('what fails after an order to try again is later than the order, unless the clock was set back since', () => {
  const failedAt = (at: number) =>
    settled(ambiguous(), { ...before, retries: { count: 1, at, id: 'order' } }).states['orders']?.failures?.at;
  expect([noon - minute, noon, noon + minute].map(failedAt)).toEqual([noon, noon + 1, noon]);
});

describe('the token that arrived', () => {
  const other = (fields: object) => tokenWith({ id: 'other', generation: noon - hour, ...fields });
  const tokensAfter = (reason: 'cold' | 'refresh', present: object, arrived: object) => {
    const row = { ...open, reason };
    const record = recordWith([row], { tokens: [other(present), tokenWith({ name: 'stock' })] });
    const answer = { kind: 'issued' as const, token: tokenWith({ id: 'asked', generation: noon, ...arrived }) };
    return settle(record, noon, row, answer).tokens.filter(({ name }) => name === 'orders');
  };

  test('takes the place of the one before, and has expired by its lifetime from now on', () => {
    const expiresAt = noon + day - second;
    expect(tokensAfter('cold', {}, { expiresAt })).toEqual([
      { ...tokenWith({ id: 'asked', expiresAt }), expiredBy: noon + day },
    ]);
    expect(tokenOf(settled(token()), 'orders', 'key')?.id).toBe('asked');
  });

  test('takes the place of no token of another name, or of another secret', () => {
    const others = [tokenWith({ name: 'stock', id: 'stock' }), tokenWith({ keyId: 'other', id: 'of another secret' })];
    const { tokens } = settled(token(), { ...before, tokens: [...others, other({})] });
    expect(tokens.map(({ id }) => id)).toEqual(['stock', 'of another secret', 'asked']);
  });

  test('does not take the place of a later one', () => {
    for (const generation of [noon, noon + 1])
      expect(tokensAfter('cold', { generation }, {})).toMatchObject([{ id: 'other' }]);
  });

  test('by a renewal that brought no later expiry is not renewed before its end', () => {
    const until = (at: number) => at - minute;
    expect(tokensAfter('refresh', { expiresAt: noon + day }, {})).toMatchObject([
      { id: 'asked', renewAfter: until(noon + day) },
    ]);
    expect(tokensAfter('refresh', { expiresAt: noon + 2 * day }, {})).toMatchObject([
      { id: 'other', renewAfter: until(noon + 2 * day) },
    ]);
    // A cold start needs the token, however short its life is.
    expect(tokensAfter('cold', { expiresAt: noon + 2 * day }, {})).toMatchObject([{ id: 'asked' }]);
    const [renewed] = tokensAfter('refresh', { expiresAt: noon + day - day / 100, renewAfter: noon }, {});
    expect(renewed).toMatchObject({ id: 'asked' });
    expect(renewed?.renewAfter).toBeUndefined();
  });

  test('that was reset on its way is never used, and recognised by its hash', () => {
    const reset = withReset(before, 'orders', noon);
    const after = settled(token(), reset);
    expect([after.tokens, after.states['orders']?.resetHash]).toEqual([[], 'hash asked']);
    const { token: arrived } = token() as Extract<Answer, { kind: 'issued' }>;
    const unhashed = settled({ kind: 'issued', token: { ...arrived, hash: undefined } }, reset);
    expect([unhashed.tokens, unhashed.states['orders']?.resetHash]).toEqual([[], undefined]);
  });
});
