import { describe, expect, test } from 'vitest';
import { decodeRecord, encodeRecord } from '../../src/ledger/codec.ts';
import { leavesAt } from '../../src/ledger/limits.ts';
import type { AudienceState, LedgerRecord } from '../../src/ledger/record.ts';
import { type Outcome, settle } from '../../src/ledger/settle.ts';
import { day, hour, minute, noon, second } from '../support/instants.ts';
import {
  audienceWith,
  declaredBy,
  entriesAt,
  entryAt,
  failuresWith,
  oneWindow,
  recordWith,
  tokenAt,
  usualLimits,
  usualTerm,
} from '../support/records.ts';

const reservedAt = noon - 20 * second;
const entry = entryAt(reservedAt, { id: 'mine', pending: true });
const lease = { id: 'mine', generation: 9, until: noon + 40 * second };
const older = entryAt(noon - hour);
const reserved = recordWith({ entries: [older, entry], audiences: [audienceWith({ lease })] });
const token = tokenAt(9, noon + day, { id: 'mine' });

const settled = (outcome: Outcome, record: LedgerRecord = reserved, now = noon): LedgerRecord =>
  settle(record, now, { entry, keyId: 'key', secretId: 'secret' }, outcome, usualLimits);

const stateIn = (record: LedgerRecord): AudienceState | undefined =>
  record.audiences.find(({ keyId }) => keyId === 'key');

describe('a token that arrived', () => {
  const issued: Outcome = { kind: 'issued', token };

  test('is stamped when it is settled, because it is certainly issued then', () => {
    expect(settled(issued).entries).toEqual([older, { ...entry, pending: false, at: noon }]);
  });

  test('is never stamped earlier than it was reserved, whatever the clocks say', () => {
    expect(settled(issued, reserved, reservedAt - hour).entries.at(-1)?.at).toBe(reservedAt);
  });

  test('of which the store hears late counts no longer than one of unknown outcome', () => {
    const { pendingMs, settledMs } = usualTerm;
    const lastAt = reservedAt + pendingMs - settledMs;
    for (const now of [lastAt, lastAt + 1, lastAt + 30 * day]) {
      const stamped = settled(issued, reserved, now).entries.at(-1);
      expect(stamped).toEqual({ ...entry, pending: false, at: lastAt });
      expect(leavesAt(stamped ?? entry, usualTerm)).toBe(leavesAt(entry, usualTerm));
    }
    expect(settled(issued, reserved, lastAt - 1).entries.at(-1)?.at).toBe(lastAt - 1);
  });

  test('is stamped late enough for every window of the record', () => {
    const terms = [declaredBy('other', { tokens: 10, windowMs: hour, reserve: 0 }, noon)];
    const both = { ...reserved, terms };
    const { pendingMs, settledMs } = usualTerm;
    expect(settled(issued, both, noon + day).entries.at(-1)?.at).toBe(reservedAt + pendingMs - settledMs);
    const hourly = oneWindow(10, hour, 0);
    const alone = settle(reserved, noon + day, { entry, keyId: 'key', secretId: 'secret' }, issued, hourly);
    expect(alone.entries.at(-1)?.at).toBe(reservedAt + 7 * minute - hour / 144);
  });

  test('uses the clock of the record, which may have changed since the reservation', () => {
    const moved = { ...reserved, entries: [{ ...entry, at: noon + day }] };
    expect(settled(issued, moved, noon + 2 * day).entries[0]?.at).toBe(
      noon + day + usualTerm.pendingMs - usualTerm.settledMs,
    );
  });

  test('is kept for the fleet, and the lease given back', () => {
    expect(settled(issued).audiences).toEqual([
      audienceWith({ token, lease: undefined, credentialsBackoff: undefined }),
    ]);
  });

  test('ends the pause after deaths, unless processes of another audience died, too', () => {
    const deaths = { count: 3, retryAt: noon + hour, countedUntil: noon - minute };
    const none = { count: 0, retryAt: 0, countedUntil: noon };
    const afterDeathsOf = (...audiences: string[]) => {
      const lost = audiences.map((audience) => entryAt(noon - 2 * minute, { audience, pending: true }));
      return { ...reserved, deaths, entries: [...lost, entry] };
    };
    const own = afterDeathsOf(entry.audience);
    const others = afterDeathsOf(entry.audience, 'invoices');
    expect(settled(issued, own).deaths).toEqual(none);
    expect(settled(issued, others).deaths).toEqual(deaths);
    expect(settled(issued, { ...others, deaths: none }).deaths).toEqual(none);
    const retry = { count: 1, retryAt: noon, openUntil: noon, id: entry.id };
    expect(settled(issued, { ...others, retry }).deaths).toEqual(none);
  });

  test('ends the back-offs of the fleet', () => {
    const failing = {
      ...reserved,
      failures: failuresWith({ count: 3, retryAt: noon + hour, ambiguous: true }),
      rateLimit: { count: 1, retryAt: noon - hour },
      audiences: [
        audienceWith({ lease, credentialsBackoff: { secretId: 'secret', count: 2, retryAt: noon, status: 401 } }),
      ],
    };
    expect(settled(issued, failing)).toMatchObject({ failures: undefined, rateLimit: undefined });
    expect(stateIn(settled(issued, failing))?.credentialsBackoff).toBeUndefined();
  });

  test('leaves the pause of another audience that failed last', () => {
    const failures = failuresWith({ audience: 'invoices', shared: true, retryAt: noon + hour });
    expect(settled(issued, { ...reserved, failures }).failures).toEqual({ ...failures, shared: false });
    // Somebody ordered to try again, and this request shows that the endpoint works.
    const retry = { count: 1, retryAt: noon, openUntil: noon, id: 'mine' };
    expect(settled(issued, { ...reserved, failures, retry }).failures).toBeUndefined();
  });

  test('leaves the Retry-After of a 429 that came after its reservation', () => {
    const rateLimit = { count: 1, retryAt: noon + hour };
    expect(settled(issued, { ...reserved, rateLimit })).toMatchObject({ failures: undefined, rateLimit });
  });

  test('leaves the lease of somebody else alone', () => {
    const takenOver = { ...lease, id: 'other' };
    const record = { ...reserved, audiences: [audienceWith({ lease: takenOver })] };
    expect(stateIn(settled(issued, record))).toMatchObject({ lease: takenOver, token });
  });

  test('does not replace one of a later reservation', () => {
    const later = tokenAt(10, noon + hour);
    const record = { ...reserved, audiences: [audienceWith({ token: later })] };
    expect(stateIn(settled(issued, record))).toMatchObject({ token: later });
  });

  test('of an earlier reservation leaves the slot as it is', () => {
    const state = audienceWith({ token: tokenAt(10, noon + hour), renewAfter: noon });
    const record = { ...reserved, audiences: [{ ...state, lease }] };
    expect(stateIn(settled(issued, record))).toEqual({ ...state, lease: undefined });
  });

  test('is not kept when it was reset on its way', () => {
    const record = { ...reserved, audiences: [audienceWith({ revoked: 9, lease })] };
    expect(stateIn(settled(issued, record))).toEqual(audienceWith({ revoked: 9, lease: undefined }));
    expect(settled(issued, record).entries).toHaveLength(2);
  });

  test('is counted when its reservation is no longer there', () => {
    expect(settled(issued, recordWith()).entries).toEqual([{ ...entry, pending: false, at: noon }]);
  });

  test('keeps entries in order of time', () => {
    const record = { ...reserved, entries: [entry, entryAt(noon + 1)] };
    expect(settled(issued, record).entries.map(({ at }) => at)).toEqual([noon, noon + 1]);
  });
});

describe('a renewal ahead of expiry', () => {
  const present = tokenAt(8, noon + 3 * hour, { id: 'present' });
  const ahead = { ...entry, reason: 'refresh' } as const;
  const renewed = (fields: Partial<typeof token>, record: Partial<AudienceState> = {}) => {
    const before = {
      ...reserved,
      entries: [ahead],
      audiences: [audienceWith({ token: present, lease, ...record })],
    };
    const outcome: Outcome = { kind: 'issued', token: { ...token, ...fields } };
    return stateIn(settle(before, noon, { entry: ahead, keyId: 'key', secretId: 'secret' }, outcome, usualLimits));
  };

  test('that brought a later expiry may be followed by another one', () => {
    expect(renewed({})).toMatchObject({ token, renewAfter: 0 });
    expect(renewed({}, { renewAfter: noon })).toMatchObject({ renewAfter: 0 });
  });

  test('that brought hardly a later expiry is not repeated before the margin', () => {
    const expiresAt = present.expiresAt + 10 * minute;
    expect(renewed({ expiresAt })).toMatchObject({ token: { id: 'mine' }, renewAfter: expiresAt - minute });
  });

  test('that brought an earlier expiry changes nothing, and is not repeated before the margin of the old token', () => {
    expect(renewed({ expiresAt: noon + minute, lifetimeMs: minute })).toMatchObject({
      token: present,
      renewAfter: present.expiresAt - minute,
    });
  });

  test('of a token that the record has lost is no failed renewal', () => {
    const record = settle(
      reserved,
      noon,
      { entry: { ...entry, reason: 'refresh' }, keyId: 'key', secretId: 'secret' },
      { kind: 'issued', token },
      usualLimits,
    );
    expect(stateIn(record)).toMatchObject({ token, renewAfter: 0 });
  });

  test('is worth it from a hundredth of a life on', () => {
    const outcomeOf = (expiresAt: number) => {
      const present = tokenAt(5, noon + hour);
      return stateIn(
        settle(
          { ...reserved, audiences: [audienceWith({ lease, token: present })] },
          noon,
          { entry: { ...entry, reason: 'refresh' }, keyId: 'key', secretId: 'secret' },
          { kind: 'issued', token: { ...token, expiresAt } },
          usualLimits,
        ),
      );
    };
    expect(outcomeOf(noon + hour + day / 100)?.renewAfter).toBe(0);
    expect(outcomeOf(noon + hour + day / 100 - 1)?.renewAfter).toBeGreaterThan(noon);
    // If two tokens expire together, the newer one is kept, because the older one may have been rejected.
    expect(outcomeOf(noon + hour)?.token?.id).toBe('mine');
  });

  test('that failed counts as one only when it was early', () => {
    const before = { ...reserved, audiences: [audienceWith({ token: present, lease })] };
    const short = { ...token, expiresAt: noon + minute };
    expect(stateIn(settled({ kind: 'issued', token: short }, before))).toMatchObject({ token: short, renewAfter: 0 });
  });

  test('is not counted as failed when its outcome is entered twice', () => {
    const once = renewed({});
    const before = { ...reserved, entries: [ahead], audiences: once ? [once] : [] };
    const twice = settle(
      before,
      noon,
      { entry: ahead, keyId: 'key', secretId: 'secret' },
      { kind: 'issued', token },
      usualLimits,
    );
    expect(stateIn(twice)).toEqual({ ...once, lease: undefined });
  });
});

describe('what was surely not issued', () => {
  test('a request that was never sent costs nothing and causes no pause', () => {
    expect(settled({ kind: 'unsent' })).toEqual({
      ...reserved,
      entries: [older],
      audiences: [audienceWith({ lease: undefined })],
    });
  });

  test('a request that was not sent because its probe got a token leaves the token of the probe, once', () => {
    const failures = failuresWith({ count: 9, retryAt: noon + hour, probeAt: noon, ambiguous: true });
    const once = settled({ kind: 'unsent', probed: true }, { ...reserved, failures });
    expect(once.entries).toEqual([older, { ...entry, id: `${entry.id}?`, at: noon, pending: false }]);
    expect(settled({ kind: 'unsent', probed: true }, once)).toEqual(once);
    const after = settled({ kind: 'ambiguous', charge: 1 }, { ...once, entries: [...once.entries, entry] });
    expect(after.failures?.probeAt).toBeUndefined();
  });

  test('an endpoint that cannot be reached costs nothing, and the fleet backs off longer each time', () => {
    const outcome: Outcome = { kind: 'released', cause: 'unreachable' };
    const first = [second, 2 * second, 4 * second, 8 * second];
    let record = reserved;
    const pauses: number[] = [];
    for (let failures = 0; failures < 40; failures++) {
      record = settled(outcome, { ...record, entries: [older, entry] });
      expect(record.entries).toEqual([older]);
      pauses.push((record.failures?.retryAt ?? 0) - noon);
    }
    expect(pauses.slice(0, first.length)).toEqual(first);
    expect(pauses.at(-1)).toBe(5 * minute);
    expect(record.failures).toMatchObject({ count: 40, ambiguous: false, shared: true });
  });

  test('rejected credentials are remembered for their secret, 5 to 15 minutes', () => {
    const outcome: Outcome = { kind: 'released', cause: 'credentials', status: 401, oauthError: 'invalid_client' };
    let record = reserved;
    const pauses: number[] = [];
    for (let attempts = 0; attempts < 6; attempts++) {
      record = settled(outcome, record);
      pauses.push(((stateIn(record)?.credentialsBackoff?.retryAt ?? 0) - noon) / minute);
    }
    expect(pauses).toEqual([5, 10, 15, 15, 15, 15]);
    expect(record.entries).toEqual([older]);
    expect(record.failures).toBeUndefined();
    expect(stateIn(record)?.credentialsBackoff).toMatchObject({
      secretId: 'secret',
      status: 401,
      oauthError: 'invalid_client',
    });
  });

  test('the answer of a wrong address holds its audience alone, 5 to 15 minutes', () => {
    const pauses: number[] = [];
    let record = reserved;
    for (let attempts = 0; attempts < 4; attempts++) {
      record = settled({ kind: 'released', cause: 'misconfigured', status: 404 }, record);
      pauses.push(((stateIn(record)?.credentialsBackoff?.retryAt ?? 0) - noon) / minute);
    }
    expect(pauses).toEqual([5, 10, 15, 15]);
    expect(record).toMatchObject({ entries: [older], failures: undefined });
  });

  test('another secret that is rejected starts from 5 minutes again', () => {
    const credentialsBackoff = { secretId: 'old secret', count: 5, retryAt: noon + hour, status: 401 };
    const record = { ...reserved, audiences: [audienceWith({ credentialsBackoff, lease })] };
    const outcome: Outcome = { kind: 'released', cause: 'credentials', status: 403 };
    expect(stateIn(settled(outcome, record))?.credentialsBackoff).toMatchObject({
      count: 1,
      retryAt: noon + 5 * minute,
    });
  });

  test('429 causes a pause of its Retry-After, else of 15 minutes', () => {
    const backoffMs = (retryAfterMs: number | undefined, count: number) => {
      const record = { ...reserved, rateLimit: { count, retryAt: noon } };
      const { rateLimit } = settled({ kind: 'released', cause: 'rate_limited', retryAfterMs }, record);
      return (rateLimit?.retryAt ?? 0) - noon;
    };
    expect(backoffMs(7 * second, 3)).toBe(7 * second);
    expect([0, 1, 2, 3, 4, 5].map((count) => backoffMs(undefined, count) / minute)).toEqual([15, 15, 15, 15, 15, 15]);
    const first = settled({ kind: 'released', cause: 'rate_limited' });
    expect(first.entries).toEqual([older]);
    expect(first.rateLimit?.count).toBe(1);
  });
});

describe('what may have been issued', () => {
  test('stays charged, and the fleet backs off', () => {
    const record = settled({ kind: 'ambiguous', charge: 1, status: 502 });
    expect(record.entries).toEqual([older, entry]);
    expect(record.failures).toEqual({
      count: 1,
      retryAt: noon + second,
      failedAt: noon,
      audience: 'orders',
      shared: false,
      toldUntil: undefined,
      probeAt: undefined,
      ambiguous: true,
      status: 502,
      reason: undefined,
    });
    expect(stateIn(record)?.lease).toBeUndefined();
    const again = settled({ kind: 'ambiguous', charge: 1, reason: 'not_json' }, record);
    expect(again.failures).toMatchObject({ count: 2, retryAt: noon + 2 * second, reason: 'not_json' });
  });

  test('holds its audience alone until another one fails, too', () => {
    const failed = (failures: LedgerRecord['failures']) =>
      settled({ kind: 'ambiguous', charge: 1 }, { ...reserved, failures }).failures;
    expect(failed(failuresWith({ audience: 'orders', shared: false }))).toMatchObject({ count: 2, shared: false });
    expect(failed(failuresWith({ audience: 'orders', shared: true }))).toMatchObject({ shared: true });
    expect(failed(failuresWith({ audience: 'invoices', shared: false }))).toMatchObject({ count: 2, shared: true });
    const told: Outcome = { kind: 'ambiguous', charge: 1, status: 503, retryAfterMs: minute };
    expect(settled(told).failures).toMatchObject({ shared: false, toldUntil: noon + minute });
  });

  test('begins a new row an hour after the next request was allowed', () => {
    const failed = (retryAt: number) =>
      settled({ kind: 'ambiguous', charge: 1 }, { ...reserved, failures: failuresWith({ count: 9, retryAt }) });
    expect(failed(noon - hour).failures?.count).toBe(10);
    expect(failed(noon - hour - 1).failures).toMatchObject({ count: 1, retryAt: noon + second });
  });

  test('stays where its time puts it among the entries', () => {
    const later = entryAt(noon - second);
    const record = { ...reserved, entries: [older, entry, later] };
    const { entries } = settled({ kind: 'ambiguous', charge: 1 }, record);
    expect(entries.map(({ id }) => id)).toEqual([older.id, entry.id, later.id]);
  });

  test('is charged twice when two requests may have arrived', () => {
    const record = settled({ kind: 'ambiguous', charge: 2, status: 421 });
    expect(record.entries.map(({ id, pending }) => [id, pending])).toEqual([
      [older.id, false],
      ['mine', true],
      ['mine+', true],
    ]);
  });

  test('is charged once more neither when the store did not confirm and the outcome is entered again', () => {
    const outcome: Outcome = { kind: 'ambiguous', charge: 2, status: 421 };
    const twice = settled(outcome, settled(outcome));
    expect(twice.entries).toEqual(settled(outcome).entries);
    expect(decodeRecord(encodeRecord(twice))).toMatchObject({ entries: twice.entries });
  });
});

describe('a quarter of the budget of unknown outcome', () => {
  const scarce = recordWith({ entries: [...entriesAt(noon - hour, 30, { pending: true }), entry] });
  const spareMs = (27 * hour) / 30;

  test('is spared: the next request is far away, and earlier only after a probe', () => {
    const { failures } = settled({ kind: 'ambiguous', charge: 1 }, scarce);
    expect(failures).toMatchObject({ retryAt: noon + spareMs, probeAt: noon + 15 * minute });
  });

  test('is spared by time alone where the endpoint answers probes and yet fails', () => {
    const { failures } = settled({ kind: 'ambiguous', charge: 1, answered: true }, scarce);
    expect(failures).toMatchObject({ retryAt: noon + 2 * spareMs, probeAt: noon + spareMs });
  });

  test('stays spared when a probe is not answered: the next one comes within five minutes', () => {
    const failures = failuresWith({ count: 30, retryAt: noon + hour, probeAt: noon, ambiguous: true });
    const after = settled({ kind: 'released', cause: 'unreachable', status: 503 }, { ...scarce, failures });
    expect(after.failures).toEqual({
      count: 31,
      retryAt: noon + hour,
      probeAt: noon + 5 * minute,
      failedAt: noon,
      audience: 'orders',
      shared: true,
      ambiguous: false,
      status: 503,
    });
    expect(after.entries.length).toBe(30);
  });

  test('a failure does not shorten what another request was told to wait', () => {
    const failures = failuresWith({ count: 30, retryAt: noon + hour, probeAt: noon + hour / 2, ambiguous: true });
    const after = settled({ kind: 'released', cause: 'unreachable', status: 503 }, { ...scarce, failures });
    expect(after.failures?.probeAt).toBe(noon + hour / 2);
    const charged = settled({ kind: 'ambiguous', charge: 1 }, { ...scarce, failures });
    expect(charged.failures?.probeAt).toBe(noon + hour / 2);
  });
});

describe('a failure of which the store hears late', () => {
  const outcomes: Outcome[] = [
    { kind: 'released', cause: 'unreachable' },
    { kind: 'released', cause: 'rate_limited', retryAfterMs: hour },
    { kind: 'released', cause: 'credentials', status: 401 },
    { kind: 'ambiguous', charge: 1 },
  ];
  const backoffUntil = ({ failures, rateLimit, audiences }: LedgerRecord): number =>
    Math.max(
      failures?.retryAt ?? 0,
      rateLimit?.retryAt ?? 0,
      ...audiences.map(({ credentialsBackoff }) => credentialsBackoff?.retryAt ?? 0),
    );

  test.each(outcomes)('%j, causes no pause for an outage that is over', (outcome) => {
    const pauseMs = backoffUntil(settled(outcome)) - noon;
    expect(pauseMs).toBeGreaterThan(0);
    expect(backoffUntil(settled(outcome, reserved, noon + day))).toBe(reservedAt + 6 * minute + pauseMs);
    expect(backoffUntil(settled(outcome, reserved, reservedAt - hour))).toBe(reservedAt - hour + pauseMs);
  });

  test('does not shorten a later back-off', () => {
    const hold = { count: 1, retryAt: noon + 2 * day };
    const failing = {
      ...reserved,
      failures: failuresWith(hold),
      rateLimit: hold,
      audiences: [audienceWith({ credentialsBackoff: { ...hold, secretId: 'secret', status: 401 } })],
    };
    for (const outcome of outcomes) {
      expect(backoffUntil(settled(outcome, failing, noon + day))).toBe(noon + 2 * day);
    }
  });
});
