import { anyText } from '@service-auth/test-tools/any-text';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fitOf, fitted, roomExpectedAt } from '../../src/ledger/bound.ts';
import { decodeRecord, encodeRecord } from '../../src/ledger/codec.ts';
import { compact } from '../../src/ledger/condense.ts';
import { decide } from '../../src/ledger/decide.ts';
import type { Limits } from '../../src/ledger/limits.ts';
import type { AudienceState, LedgerRecord } from '../../src/ledger/record.ts';
import { day, hour, minute, noon } from '../support/instants.ts';
import { audienceWith, entryAt, oneWindow, queryFor, recordWith, spentIn, tokenAt } from '../support/records.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text).length;
const within = (maxBytes: number): Limits => ({ ...oneWindow(10_000, undefined, 0), maxBytes });

/** The state of an audience with a token. `length`: that of the sealed token. */
function tokenOf(audience: string, length: number, fields: Partial<AudienceState> = {}): AudienceState {
  return audienceWith({ audience, token: tokenAt(1, noon + 2 * hour, { sealed: 's'.repeat(length) }), ...fields });
}

const leased = (audience: string, until: number): AudienceState =>
  audienceWith({ audience, lease: { id: audience, generation: 1, until } });

const refusedUntil = (audience: string, retryAt: number): AudienceState =>
  audienceWith({ audience, credentialsBackoff: { count: 1, retryAt, secretId: 'secret', status: 403 } });

const audiencesOf = ({ audiences }: LedgerRecord) => audiences.map(({ audience }) => audience);

describe('a record that the store must keep', () => {
  test('is never larger than the bound, can always be read, and keeps everything that counts', () => {
    const aState = fc.record({
      audience: anyText(60),
      keyId: fc.constantFrom('one', 'two'),
      revoked: fc.constantFrom(0, noon),
      renewAfter: fc.constant(0),
      unreadableUntil: fc.constant(0),
      token: fc.option(
        fc.integer({ min: 1, max: 22_000 }).map((length) => tokenAt(1, noon + hour, { sealed: 's'.repeat(length) })),
        { nil: undefined },
      ),
    });
    const states = fc.uniqueArray(aState, { maxLength: 40, selector: ({ audience, keyId }) => `${keyId} ${audience}` });
    fc.assert(
      fc.property(states, fc.integer({ min: 30_000, max: 200_000 }), (audiences, maxBytes) => {
        const entries = audiences.map(({ audience }) => entryAt(noon - minute, { audience }));
        const record = recordWith({ audiences, entries });
        const { record: kept, text } = fitted(record, noon, within(maxBytes));
        expect(bytesOf(text)).toBeLessThanOrEqual(maxBytes);
        expect(decodeRecord(text)).toMatchObject(JSON.parse(JSON.stringify(kept)));
        expect(spentIn(kept, noon, within(maxBytes))).toEqual(spentIn(record, noon, within(maxBytes)));
        const revokedIn = (all: readonly AudienceState[]) => all.filter(({ revoked }) => revoked > 0).length;
        expect(revokedIn(kept.audiences)).toBe(revokedIn(audiences));
      }),
      { numRuns: 50 },
    );
  });

  test('loses expired tokens first, then states without content, then refusals, and then its largest tokens', () => {
    const audiences = [
      audienceWith({ audience: 'old', revoked: 7, token: tokenAt(9, noon - 1, { sealed: 's'.repeat(1_500) }) }),
      audienceWith({ audience: 'nothing'.repeat(200) }),
      refusedUntil('refused'.repeat(200), noon + minute),
      tokenOf('small', 500),
      tokenOf('large', 5_000),
      leased('leased', noon + minute),
      audienceWith({ audience: 'reset', revoked: 7 }),
    ];
    const record = recordWith({ audiences });
    const keptWithin = (maxBytes: number) => fitted(record, noon, within(maxBytes)).record;
    const whole = bytesOf(fitted(record, noon, within(1_000_000)).text);
    expect(keptWithin(whole)).toBe(record);
    expect(keptWithin(whole - 1).audiences).toEqual([{ ...audiences[0], token: undefined }, ...audiences.slice(1)]);
    const others = ['old', 'small', 'large', 'leased', 'reset'];
    expect(audiencesOf(keptWithin(whole - 1_700))).toEqual([
      ...others.slice(0, 1),
      audiences[2]?.audience,
      ...others.slice(1),
    ]);
    expect(audiencesOf(keptWithin(whole - 3_300))).toEqual(others);
    const small = keptWithin(3_000);
    expect(audiencesOf(small)).toEqual(others);
    expect(small.audiences.flatMap(({ token }) => token?.sealed.length ?? [])).toEqual([500]);
  });

  test('loses fingerprints before tokens that live, and those of an expired token first', () => {
    const of = (name: string, generation: number) => ({ hash: name.repeat(600), generation, until: noon + day });
    const live = tokenOf('orders', 500, { revoked: 7, fingerprints: [of('reset', 7), of('present', 8)] });
    const old = audienceWith({ audience: 'old', token: tokenAt(9, noon - 1), fingerprints: [of('expired', 9)] });
    const record = recordWith({ audiences: [live, old, tokenOf('invoices', 500)] });
    const whole = bytesOf(encodeRecord(record));
    const keptWithin = (maxBytes: number) => {
      const { audiences } = fitted(record, noon, within(maxBytes)).record;
      expect(audiences.filter(({ token }) => token && token.expiresAt > noon)).toHaveLength(2);
      return audiences.flatMap(({ fingerprints = [] }) => fingerprints.map(({ generation }) => generation));
    };
    expect(keptWithin(whole)).toEqual([7, 8, 9]);
    expect(keptWithin(whole - 1)).toEqual([7, 8]);
    expect(keptWithin(whole - 9_500)).toEqual([]);
  });

  test('takes no token and no room from another audience for fingerprints', () => {
    const fingerprints = Array.from({ length: 20 }, (_, index) => ({
      hash: `fingerprint${index}`,
      generation: index,
      until: noon + day,
    }));
    const audiences = Array.from({ length: 20 }, (_, index) => tokenOf(`api ${index}`, 2_000, { fingerprints }));
    const record = recordWith({ audiences });
    const limits = within(60_000);
    expect(bytesOf(encodeRecord(record))).toBeGreaterThan(60_000);
    expect(fitted(record, noon, limits).record.audiences.filter(({ token }) => token)).toHaveLength(20);
    expect(fitOf(record, noon, limits)).toBe('fits');
  });

  test('has at most a million bytes if the store does not say how much it keeps', () => {
    const audiences = Array.from({ length: 60 }, (_, index) => tokenOf(`api ${index}`, 20_000));
    const { record, text } = fitted(recordWith({ audiences }), noon, oneWindow(150));
    expect(bytesOf(text)).toBeLessThanOrEqual(1_000_000);
    expect(record.audiences.filter(({ token }) => token).length).toBeGreaterThan(45);
  });

  test('keeps the 512 refusals that end last', () => {
    const refusals = Array.from({ length: 600 }, (_, index) => refusedUntil(`api ${index}`, noon + minute + index));
    const { audiences } = compact(recordWith({ audiences: [tokenOf('own', 10), ...refusals] }), noon, within(100_000));
    expect(audiences.map(({ audience }) => audience)).toEqual([
      'own',
      ...refusals.slice(-512).map(({ audience }) => audience),
    ]);
  });
});

describe('the room for the token of another audience', () => {
  const full = recordWith({ audiences: [tokenOf('one', 9_000), tokenOf('two', 9_000, { renewAfter: 1 })] });

  test('is that of one token as large as the largest, for each request that is under way', () => {
    const others = [leased('two', noon + minute), leased('three', noon + 2 * minute)];
    const record = recordWith({ audiences: [tokenOf('one', 4_000), ...others] });
    expect([40_000, 12_500, 8_000, 3_000].map((bytes) => fitOf(record, noon, within(bytes)))).toEqual([
      'fits',
      'later',
      'full',
      'full',
    ]);
    expect(fitOf(recordWith(), noon, oneWindow(150))).toBe('fits');
  });

  test('is judged by an estimate if the record is large: never too low, and never by a quarter too high', () => {
    const aName = fc.stringMatching(/^[a-z]{1,60}$/);
    const aState = fc
      .record({ audience: aName, length: fc.integer({ min: 300, max: 4_000 }), isLeased: fc.boolean() })
      .map(({ audience, length, isLeased }) => {
        const lease = { id: 'lease-123456', generation: noon, until: noon + minute };
        return tokenOf(audience, length, { revoked: noon - 1, lease: isLeased ? lease : undefined });
      });
    const states = fc.uniqueArray(aState, { minLength: 100, maxLength: 200, selector: ({ audience }) => audience });
    fc.assert(
      fc.property(states, (audiences) => {
        const entries = audiences.map(({ audience }, index) => entryAt(noon - minute - index, { audience }));
        const record = recordWith({ audiences, entries });
        const leases = audiences.filter(({ lease }) => lease).length;
        const largest = Math.max(2_000, ...audiences.map(({ token }) => token?.sealed.length ?? 0));
        const bytes = bytesOf(encodeRecord(record));
        expect(fitOf(record, noon, within(bytes - 1 + leases * largest))).not.toBe('fits');
        expect(fitOf(record, noon, within(Math.ceil(1.25 * bytes) + leases * largest))).toBe('fits');
      }),
      { numRuns: 30 },
    );
  });

  test('is asked for before a request of an audience that has no token, and of no other', () => {
    const limits = within(24_000);
    const decideFor = (audience: string, record = full, unusable: string[] = []) =>
      decide(record, noon, queryFor({ audience, unusable, id: 'asked' }), limits);
    const retryAt = noon + hour;
    expect(decideFor('three')).toEqual({ kind: 'deny', reason: 'cold', denial: { cause: 'full', retryAt } });
    expect(decideFor('one', full, ['token-1'])).toMatchObject({ kind: 'write' });
    const reset = { ...full, audiences: [...full.audiences, audienceWith({ audience: 'three', revoked: noon - 1 })] };
    expect(decideFor('three', reset)).toMatchObject({ kind: 'write' });
    // When the requests under way have ended, there may be room.
    const busy = recordWith({ audiences: [tokenOf('one', 9_000), leased('two', noon + minute)] });
    expect(decideFor('three', busy)).toEqual({ kind: 'wait', until: noon + minute });
  });

  test('is expected when the first token has expired: after a minute at the earliest, and after an hour at the latest', () => {
    const expiring = (...lives: number[]) =>
      recordWith({
        audiences: lives.map((life) => audienceWith({ audience: `${life}`, token: tokenAt(1, noon + life) })),
      });
    const expectedIn = (record: LedgerRecord) => roomExpectedAt(record, noon) - noon;
    expect(expectedIn(expiring(30 * minute, 20 * minute, -minute))).toBe(20 * minute);
    expect(expectedIn(expiring(1, hour))).toBe(minute);
    expect(expectedIn(expiring(5 * hour))).toBe(hour);
    expect(expectedIn(expiring())).toBe(minute);
  });
});
