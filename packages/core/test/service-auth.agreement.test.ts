import { describe, expect, test } from 'vitest';
import type { ServiceAuthOptions } from '../src/index.ts';
import { type Bed, createBed, day, failure, hour, minute, second } from './support/bed.ts';
import { fails } from './support/faulty-store.ts';

type IssuanceLimit = ServiceAuthOptions['issuanceLimit'];

/** Returns how many of so many new processes get a token. Each has an audience of its own. */
async function issuedTo({ client, token }: Bed, count: number, issuanceLimit?: IssuanceLimit, name = 'api') {
  let issued = 0;
  for (let index = 0; index < count; index += 1) {
    const auth = client({ audience: `${name} ${index}`, issuanceLimit });
    issued += await token(auth).then(
      () => 1,
      () => 0,
    );
  }
  return issued;
}

/** A fleet whose record is older than any window, and which has spent so many of 150. */
async function fleetThatSpent(count: number): Promise<Bed> {
  const bed = createBed();
  await bed.token(bed.client({ audience: 'first' }));
  await bed.clock.advance(28 * hour);
  expect(await issuedTo(bed, count, undefined, 'fleet')).toBe(count);
  return bed;
}

describe('an agreement of several windows', () => {
  const hourlyAndDaily = {
    windows: [
      { tokens: 10, windowMs: hour },
      { tokens: 50, windowMs: day },
    ],
    reserve: 0,
  };

  test('is kept and used: at least 70 in two days of demand, at most 10 in an hour and 50 in a day', async () => {
    const bed = createBed();
    const issuedAt: number[] = [];
    bed.endpoint.otherwise((request) => {
      issuedAt.push(bed.clock.monotonic());
      return bed.endpoint.issueWith({ expires_in: 60 })(request);
    });
    for (let from = bed.clock.monotonic(); bed.clock.monotonic() - from < 2 * day; ) {
      await issuedTo(bed, 1, hourlyAndDaily);
      await bed.clock.advance(6 * minute);
    }
    expect(issuedAt.length).toBeGreaterThanOrEqual(70);
    const most = (windowMs: number) =>
      Math.max(...issuedAt.map((from) => issuedAt.filter((at) => at >= from && at < from + windowMs).length));
    // Four of the daily 50 are kept for resets.
    expect([most(hour), most(day)]).toEqual([10, 46]);
  });

  test('is refused in the name of the window that has no room', async () => {
    const bed = createBed();
    expect(await issuedTo(bed, 12, hourlyAndDaily)).toBe(10);
    const error = await failure('ERR_ISSUANCE_LIMIT', bed.token(bed.client({ issuanceLimit: hourlyAndDaily })));
    expect(error).toMatchObject({ limit: 10, used: 10, windowMs: hour });
    expect(error.message).toContain('10 of 10 usable tokens are spent (limit 10 in 1 h)');
    expect(bed.eventsOf('issuance_refused').at(-1)).toMatchObject({ limit: 10, used: 10, windowMs: hour });
    const usage = await bed.client({ issuanceLimit: hourlyAndDaily }).getUsage();
    expect(usage).toMatchObject({ limit: 10, windowMs: hour, used: 10, remaining: 0 });
    expect(usage.windows).toMatchObject([
      { tokens: 10, windowMs: hour, usable: 10, used: 10, pending: 0, remaining: 0, own: true },
      { tokens: 50, windowMs: day, usable: 50, used: 10, pending: 0, remaining: 40, own: true },
    ]);
  });
});

describe('one process with another agreement than its fleet', () => {
  test.each([
    ['a window of an hour', { windowMs: hour }],
    ['a window of twelve hours', { tokens: 50, windowMs: 12 * hour }],
    ['300 tokens', { tokens: 300 }],
  ])('gets no token that the fleet may not have: %s', async (_, limit) => {
    const bed = await fleetThatSpent(110);
    expect(await issuedTo(bed, 20, limit, 'stranger')).toBe(0);
    await bed.clock.advance(30 * minute);
    expect(await issuedTo(bed, 20, limit, 'stranger')).toBe(0);
    expect(await bed.client().getUsage()).toMatchObject({ used: 110, remaining: 10 });
  });

  test('does not take away what the fleet counts, though nobody declared that agreement for hours', async () => {
    const bed = await fleetThatSpent(110);
    await bed.clock.advance(14 * hour);
    expect(await issuedTo(bed, 1, { tokens: 50, windowMs: 12 * hour }, 'stranger')).toBe(1);
    expect(await issuedTo(bed, 20, undefined, 'more')).toBe(0);
    expect(await bed.client().getUsage()).toMatchObject({ used: 111 });
  });

  test('is named to both sides, once', async () => {
    const bed = createBed();
    const fleet = bed.client({ instance: 'fleet' });
    const stranger = bed.client({ instance: 'stranger', issuanceLimit: { tokens: 300 } });
    await bed.token(fleet);
    const declaredAt = bed.clock.now();
    await bed.token(stranger);
    await bed.use(fleet, 5 * minute);
    await bed.use(stranger, 5 * minute);
    const usual = { tokens: 150, windowMs: day, reserve: 30 };
    const other = { tokens: 300, windowMs: day, reserve: 60 };
    const differs = bed.eventsOf('agreement_differs');
    expect(differs).toMatchObject([
      { instance: 'stranger', own: [other], others: [{ ...usual, instance: 'fleet', seenAt: declaredAt }] },
      { instance: 'fleet', own: [usual], others: [{ ...other, instance: 'stranger' }] },
    ]);
    const { windows } = await fleet.getUsage();
    expect(windows).toMatchObject([
      { tokens: 150, own: true },
      { tokens: 300, own: false },
    ]);
  });
});

describe('a client that inherits the agreement', () => {
  test('changes nothing for a fleet with a higher limit, whatever it does', async () => {
    const bed = createBed();
    const thousand = { tokens: 1_000 };
    expect(await issuedTo(bed, 130, thousand)).toBe(130);
    const tool = bed.client({ audience: 'api 0', instance: 'tool', issuanceLimit: 'inherit' });
    await bed.token(tool);
    await tool.reset({ reason: 'a leak' });
    await tool.retryNow();
    await bed.token(tool);
    await bed.use(tool, hour);
    expect(bed.eventsOf('agreement_differs')).toEqual([]);
    const { windows } = await bed.client({ issuanceLimit: thousand }).getUsage();
    expect(windows).toMatchObject([{ tokens: 1_000, own: true, used: 131 }]);
    expect(await issuedTo(bed, 20, thousand, 'late')).toBe(20);
  });

  test('is refused where the fleet is, although its own limit would be higher', async () => {
    const bed = createBed();
    const ten = { tokens: 10, reserve: 0 };
    expect(await issuedTo(bed, 12, ten)).toBe(10);
    const error = await failure('ERR_ISSUANCE_LIMIT', bed.token(bed.client({ issuanceLimit: 'inherit' })));
    expect(error).toMatchObject({ limit: 10, used: 10 });
  });

  test('keeps to 150 tokens in a day where nobody has stated anything', async () => {
    const bed = createBed();
    // A new record allows as many as the reserve insures, and keeps two of them for resets.
    expect(await issuedTo(bed, 40, 'inherit')).toBe(28);
    const error = await failure('ERR_ISSUANCE_LIMIT', bed.token(bed.client({ issuanceLimit: 'inherit' })));
    expect(error).toMatchObject({ limit: 150, windowMs: day, used: 28 });
    expect(error.message).not.toContain('Another process');
    const { windows } = await bed.client({ issuanceLimit: 'inherit' }).getUsage();
    expect(windows).toMatchObject([{ tokens: 150, windowMs: day, used: 28, own: true }]);
  });

  test('does not hold a fleet with a higher limit to 150, even if it was the first to write the record', async () => {
    const bed = createBed();
    expect(await issuedTo(bed, 40, 'inherit', 'tool')).toBe(28);
    const thousand = { tokens: 1_000 };
    expect(await issuedTo(bed, 100, thousand)).toBe(100);
    expect(bed.eventsOf('agreement_differs')).toEqual([]);
    const { windows } = await bed.client({ issuanceLimit: thousand }).getUsage();
    expect(windows).toMatchObject([{ tokens: 1_000, own: true, used: 128 }]);
  });

  test('keeps the agreement of a fleet that nobody has used for a month', async () => {
    const bed = createBed();
    expect(await issuedTo(bed, 1, { tokens: 10, windowMs: hour, reserve: 0 })).toBe(1);
    await bed.clock.advance(30 * day);
    expect(await issuedTo(bed, 20, 'inherit', 'tool')).toBe(10);
    await bed.clock.advance(2 * hour);
    expect(await issuedTo(bed, 20, 'inherit', 'later tool')).toBe(10);
  });

  test('leaves a record that knows a whole week to a fleet whose window is longer than a day', async () => {
    const bed = createBed();
    for (let index = 0; index < 9; index += 1) {
      await bed.token(bed.client({ audience: `tool ${index}`, issuanceLimit: 'inherit' }));
      await bed.clock.advance(day);
    }
    const weekly = { tokens: 20, windowMs: 7 * day, reserve: 0 };
    // A week of such an agreement counts for 7 days and 70 minutes, and a token of each of its days is there.
    expect(await bed.client({ issuanceLimit: weekly }).getUsage()).toMatchObject({ used: 7, remaining: 13 });
    expect(await issuedTo(bed, 20, weekly)).toBe(12);
  });
});

describe('a change of the agreement', () => {
  test('to a lower limit refuses until few enough count, and says until when', async () => {
    const bed = createBed();
    const before = { tokens: 60, reserve: 0 };
    expect(await issuedTo(bed, 45, before)).toBe(45);
    await bed.clock.advance(2 * hour);
    const now = { tokens: 30, reserve: 0 };
    const error = await failure('ERR_ISSUANCE_LIMIT', bed.token(bed.client({ audience: 'late', issuanceLimit: now })));
    expect(error).toMatchObject({ limit: 30, used: 45, windowMs: day });
    expect(error.message).not.toContain('Another process');
    await bed.clock.advance(error.retryAt - bed.clock.now() - minute);
    await failure('ERR_ISSUANCE_LIMIT', bed.token(bed.client({ audience: 'late', issuanceLimit: now })));
    await bed.clock.advance(minute);
    await bed.token(bed.client({ audience: 'late', issuanceLimit: now }));
  });

  test('from 150 to 300 takes effect an hour after the last process that declares 150', async () => {
    const bed = await fleetThatSpent(110);
    const wide = { tokens: 300 };
    const error = await failure('ERR_ISSUANCE_LIMIT', bed.token(bed.client({ issuanceLimit: wide, audience: 'x' })));
    expect(error.message).toContain('Another process of the fleet states this limit');
    const old = bed.client({ audience: 'fleet 0' });
    await bed.use(old, 2 * hour);
    await failure('ERR_ISSUANCE_LIMIT', bed.token(bed.client({ issuanceLimit: wide, audience: 'x' })));
    await bed.clock.advance(hour + second);
    expect(await issuedTo(bed, 20, wide, 'more')).toBe(20);
  });

  test('to a longer window knows what was issued before it, for up to a week', async () => {
    const bed = createBed();
    const daily = { tokens: 20, reserve: 0 };
    for (let days = 0; days < 5; days += 1) {
      expect(await issuedTo(bed, 20, daily, `day ${days}`)).toBe(19);
      await bed.clock.advance(27 * hour);
    }
    const weekly = { windows: [{ tokens: 110, windowMs: 7 * day }], reserve: 0 };
    // Nine of the 110 are kept for resets.
    expect(await issuedTo(bed, 30, weekly, 'week')).toBe(110 - 9 - 5 * 19);
    // A window that is longer than what is kept is careful: it may be spent in full only where nothing is insured.
    const monthly = { windows: [{ tokens: 1_000, windowMs: 31 * day }], reserve: 900 };
    await bed.clock.advance(2 * hour);
    expect(await bed.client({ issuanceLimit: monthly }).getUsage()).toMatchObject({
      windows: [{ tokens: 1_000, used: 101 }],
    });
  });
});

describe('a declaration', () => {
  test('costs a process that only reads the record one write in 20 minutes, and a reader none', async () => {
    const bed = createBed();
    const auth = bed.client();
    await bed.token(auth);
    const { swap } = bed.store.calls;
    await bed.use(auth, 19 * minute);
    expect(bed.store.calls.swap).toBe(swap);
    await bed.use(auth, 2 * minute);
    expect(bed.store.calls.swap).toBe(swap + 1);
    await bed.clock.advance(hour);
    await bed.client().getUsage();
    expect(bed.store.calls.swap).toBe(swap + 1);
  });

  test('is written with the first reservation: a cold start takes as many calls of the store as before', async () => {
    const bed = createBed();
    await bed.token(bed.client());
    expect(bed.store.calls).toEqual({ load: 1, swap: 2 });
  });

  test('that fails delays nobody and is not repeated at each read', async () => {
    const bed = createBed();
    await bed.token(bed.client());
    await bed.clock.advance(hour);
    const { swap } = bed.store.calls;
    bed.store.next('swap', fails, fails, fails, fails, fails);
    const auth = bed.client();
    await bed.token(auth);
    await bed.use(auth, 4 * minute);
    expect(bed.store.calls.swap).toBe(swap + 1);
    await bed.use(auth, 2 * minute);
    expect(bed.store.calls.swap).toBe(swap + 2);
  });
});

test('ten an hour with one loss of the record are ten, not eleven', async () => {
  const bed = createBed();
  const limit = { tokens: 10, windowMs: hour };
  await bed.token(bed.client({ issuanceLimit: limit }));
  await bed.clock.advance(2 * hour);
  expect(await issuedTo(bed, 20, limit, 'before')).toBe(8);
  await bed.store.replace(undefined);
  expect(await issuedTo(bed, 20, limit, 'after')).toBe(2);
});
