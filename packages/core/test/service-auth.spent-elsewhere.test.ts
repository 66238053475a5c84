import { describe, expect, test } from 'vitest';
import type { IssuanceLimit } from '../src/index.ts';
import { incompleteRecord, recordWithSpent } from '../src/record/stored-record.ts';
import { type Bed, createBed, failure, hour, minute } from './support/bed.ts';

/** Says how many tokens the record of a bed has not seen. Returns false if the record knows more. */
async function say(
  { store, clock }: Bed,
  count: number,
  { instance = 'ops', reason = 'counted by the provider', issuanceLimit = undefined as IssuanceLimit | undefined } = {},
): Promise<boolean> {
  const told = { count, instance, reason, now: clock.now(), issuanceLimit };
  const next = recordWithSpent(await store.text(), told, store);
  if (next !== undefined) await store.replace(next);
  return next !== undefined;
}

let audiences = 0;

/** Asks for tokens of new audiences until the limit refuses one. Returns how many were issued. */
async function spendAll(bed: Bed): Promise<number> {
  const before = bed.endpoint.issued;
  for (;;) {
    audiences += 1;
    const asked = bed.client({ audience: `audience ${audiences}` }).getToken();
    const isIssued = await bed.clock.until(asked).then(
      () => true,
      () => false,
    );
    if (!isIssued) return bed.endpoint.issued - before;
  }
}

async function availableNow(bed: Bed): Promise<number> {
  return (await bed.client().getUsage()).availableNow;
}

describe('somebody says how many tokens a new record has not seen', () => {
  test('none: the rest of the limit can be issued at once', async () => {
    const bed = createBed();
    expect(await spendAll(bed)).toBe(28);
    expect(await say(bed, 0)).toBe(true);
    expect(await availableNow(bed)).toBe(110 - 28);
    expect(await spendAll(bed)).toBe(110 - 28);
    expect((await bed.client().getUsage()).spentElsewhere).toMatchObject({ count: 0 });
  });

  test('some: they count for a whole window, and the rest can be issued', async () => {
    const bed = createBed();
    await spendAll(bed);
    expect(await say(bed, 40)).toBe(true);
    expect(await spendAll(bed)).toBe(110 - 28 - 40);
    await bed.clock.advance(25 * hour + 10 * minute);
    expect(await availableNow(bed)).toBe(110);
  });

  test('usage shows who said it, when and why, until it counts no more', async () => {
    const bed = createBed();
    const auth = bed.client();
    await bed.token(auth);
    expect((await auth.getUsage()).spentElsewhere).toBeUndefined();
    await say(bed, 40, { instance: 'ops@laptop', reason: 'the old programs' });
    const said = { at: bed.clock.now(), count: 40, instance: 'ops@laptop', reason: 'the old programs' };
    expect(await auth.getUsage()).toMatchObject({ spentElsewhere: said, used: 41 });
    await bed.clock.advance(28 * hour);
    expect((await auth.getUsage()).spentElsewhere).toBeUndefined();
  });

  test('in a store without a record', async () => {
    const bed = createBed();
    await bed.client().getUsage();
    expect(await bed.store.text()).toBeUndefined();
    expect(await say(bed, 30)).toBe(true);
    expect(await spendAll(bed)).toBe(110 - 30);
  });

  test('as many as the limit, or more: nothing can be issued until they leave the window', async () => {
    const bed = createBed();
    await bed.client().getUsage();
    expect(await say(bed, 500)).toBe(true);
    expect(await spendAll(bed)).toBe(0);
    await bed.clock.advance(25 * hour + 10 * minute);
    expect(await spendAll(bed)).toBe(110);
  });

  test('two people say different numbers: the larger one counts, whoever speaks first', async () => {
    const first = createBed();
    await first.client().getUsage();
    expect([await say(first, 40), await say(first, 10)]).toEqual([true, false]);
    const second = createBed();
    await second.client().getUsage();
    expect([await say(second, 10), await say(second, 40)]).toEqual([true, true]);
    expect([await spendAll(first), await spendAll(second)]).toEqual([70, 70]);
  });

  test('the same number twice counts once, from the second time on', async () => {
    const bed = createBed();
    await bed.client().getUsage();
    await say(bed, 40);
    await bed.clock.advance(20 * hour);
    expect(await say(bed, 40)).toBe(true);
    await bed.clock.advance(6 * hour);
    expect(await availableNow(bed)).toBe(70);
  });

  test('a record that has seen a whole window takes no 0, and takes tokens that it has not seen', async () => {
    const bed = createBed();
    await bed.token(bed.client());
    await bed.clock.advance(28 * hour);
    expect(await say(bed, 0)).toBe(false);
    expect(await say(bed, 5)).toBe(true);
    expect(await availableNow(bed)).toBe(105);
  });
});

describe('what was said', () => {
  test('is put back when the store loses the record, which is new again', async () => {
    const bed = createBed();
    const auth = bed.client();
    await bed.token(auth);
    await say(bed, 40);
    await auth.getUsage();
    await bed.store.replace(undefined);
    await bed.clock.advance(minute);
    await bed.token(auth);
    const usage = await auth.getUsage();
    expect(usage).toMatchObject({ used: 41, spentElsewhere: { count: 40 }, availableNow: 28 });
    // They may have been issued in the meantime.
    expect(await say(bed, 50)).toBe(true);
    expect(await availableNow(bed)).toBe(110 - 51);
  });

  test('and a smaller number that somebody said of the new record: the larger one counts from then on', async () => {
    const bed = createBed();
    const auth = bed.client();
    await bed.token(auth);
    await say(bed, 40);
    await auth.getUsage();
    await bed.clock.advance(minute);
    await bed.store.replace(undefined);
    await say(bed, 10);
    const saidAt = bed.clock.now();
    await bed.clock.advance(minute);
    await bed.token(bed.client({ audience: 'invoices', store: bed.store }));
    await bed.clock.advance(minute);
    await auth.getUsage();
    expect((await auth.getUsage()).spentElsewhere).toMatchObject({ count: 40, at: saidAt });
  });

  test('counts after an export and an import, and the imported record is new', async () => {
    const bed = createBed();
    await bed.token(bed.client());
    await say(bed, 40);
    const copy = (await bed.store.text()) as string;
    await bed.clock.advance(minute);
    await bed.store.replace(incompleteRecord(copy, bed.clock.now()));
    expect(await availableNow(bed)).toBe(28);
    expect(await say(bed, 60)).toBe(true);
    expect(await availableNow(bed)).toBe(110 - 61);
  });

  test('counts in every window, and a window that is longer than the known ones is still new', async () => {
    const bed = createBed();
    const options = {
      issuanceLimit: {
        windows: [
          { tokens: 50, windowMs: hour },
          { tokens: 150, windowMs: 24 * hour },
        ],
      },
    };
    await bed.client(options).getUsage();
    await say(bed, 10, { issuanceLimit: options.issuanceLimit });
    const usage = await bed.client(options).getUsage();
    expect(usage.windows.map(({ used }) => used)).toEqual([10, 10]);
    const week = { issuanceLimit: { tokens: 150, windowMs: 7 * 24 * hour } };
    expect((await bed.client(week).getUsage()).availableNow).toBeLessThan(30);
  });
});

test('the error of a new record says how the rest can be had', async () => {
  const bed = createBed();
  await spendAll(bed);
  const error = await failure('ERR_ISSUANCE_LIMIT', bed.clock.until(bed.client().getToken()));
  expect(error.message).toContain('service-auth record spent');
});

test('what nobody can mean is refused: fractions, negative numbers, no reason', async () => {
  const bed = createBed();
  for (const count of [-1, 1.5, Number.NaN, 1_000_001]) await failure('ERR_CONFIG', () => say(bed, count));
  await failure('ERR_CONFIG', () => say(bed, 1, { reason: '' }));
  await failure('ERR_CONFIG', () => say(bed, 1, { instance: 'a\nb' }));
});
