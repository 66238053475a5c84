import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { explain } from '../src/explain/explain.ts';
import { availability } from '../src/report/availability.ts';
import { places } from '../src/report/bar.ts';
import { checkLine } from '../src/report/check-line.ts';
import { type Scene, usageScreen } from '../src/report/screen.ts';
import { forecast, heldBack } from '../src/report/sentences.ts';
import { clockTime, cutApart, instant, zone } from '../src/report/text.ts';
import type { Failure } from '../src/report/usage.ts';
import { hour, minute, names, now, series, usageOf } from './journals.ts';

const scene: Scene = {
  client: 'my-client',
  authUrl: 'https://auth.example.com',
  store: 'redis://cache',
  durability: 'replicated',
  hasRecord: true,
  failures: [],
};

const busy = usageOf(
  [
    ...names(14).flatMap((instance, index) => series(1 + (index % 3), 40, { reason: 'cold', instance }, 10 * index)),
    ...series(9, 20, { reason: 'rejected', instance: 'api-with-a-name-of-many-many-many-letters-7f9c4d5b6-x2x9z' }),
    ...series(2, 7, {
      reason: 'expired',
      pending: true,
      audience: 'https://a-second-audience.example.com/with/a/path/',
    }),
  ],
  {
    holds: [{ kind: 'rejections', until: now + 22 * minute }],
    spentAt: now + 5 * hour,
    storeAheadMs: 90_000,
    resets: [{ at: now - hour, audience: 'https://api.example/', tokenId: 'abc', instance: 'ops', reason: 'leaked' }],
  },
);

test.for([40, 80, 100, 120])('the screen keeps to %i columns, and colours change nothing but colours', (columns) => {
  const style = { colours: false, columns, now };
  const lines = usageScreen(busy, scene, style);
  for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(columns);
  const inColours = usageScreen(busy, scene, { ...style, colours: true });
  expect(inColours.join('\n')).toContain('\u001B[');
  expect(inColours.map((line) => stripVTControlCharacters(line).trimEnd())).toEqual(lines);
});

test("the screen has the provider's own figures, if there are any, and says what the record does not know", () => {
  const figures = { windowMs: 24 * hour, tokens: 150, remaining: 87, observedAt: now - hour, resetAt: now + hour };
  const screenOf = (foreign: number) => {
    const usage = usageOf(series(2, 60, { reason: 'refresh' }), { quota: [{ ...figures, foreign }], foreign });
    return usageScreen(usage, scene, { colours: false, columns: 300, now }).join('\n');
  };
  const said = `Provider  At ${instant(now - hour, now)} the provider said that it counts 63 of 150 tokens in its window of 24 h, which ends at ${instant(now + hour, now)}.`;
  expect(screenOf(61)).toContain(`\n${said} At least 61 of them are not in this record.\n`);
  expect(screenOf(0)).toContain(`\n${said}\n`);
  expect(usageScreen(busy, scene, { colours: false, columns: 300, now }).join('\n')).not.toContain('Provider');
});

test('the screen says who spent what and why, what is on hold, the forecast, and what the store is', () => {
  const screen = usageScreen(busy, scene, { colours: false, columns: 100, now }).join('\n');
  for (const part of [
    /^Budget +█+▓+░+·+ /m,
    /38 of 120 usable tokens spent in 24 h\./,
    /▓ 2 pending/,
    /░ 82 left \(10 of them for resets of leaked tokens\)/,
    /; all times are UTC/,
    /The last token was issued at .*, for /,
    / cold: a program found no token that it could use; expired: .*; rejected: the API answered 401/,
    /· 30 of the limit of 150 in reserve/,
    /A caller without a token gets one now/,
    /The next token leaves the window at .* \(in 60 min\), others at .*; each counts for 25 h 10 min, or 27 h if its outcome is unknown, in case clocks change or differ\./,
    /^On hold .*The API rejects tokens \(401\)/m,
    /^Spent by +instance +tokens +cold +rejected +expired /m,
    /and \d+ more with \d+ tokens/,
    /^In use .*expires in /m,
    /^Resets .*token abc of https:\/\/api\.example\/, by ops: "leaked"/m,
    /^Store .*may lose its newest writes at a failover\. Its clock is 2 min ahead of this machine\./m,
  ]) {
    expect(screen.replace(/\n {10}/g, ' ')).toMatch(part);
  }
});

test('an empty record has a screen, too', () => {
  const lines = usageScreen(usageOf([]), scene, { colours: false, columns: 80, now });
  const screen = lines.join('\n').replace(/\n {10}/g, ' ');
  expect(screen).toContain('no token was issued');
  expect(screen).toContain('Its clock agrees with this machine.');
});

test('a refused caller is told until when and why', () => {
  const usage = usageOf(series(115, 5, { reason: 'refresh' }));
  const screen = usageScreen(usage, scene, { colours: false, columns: 200, now }).join('\n');
  expect(screen).toMatch(
    /A caller without a token is refused until .* \(in 60 min\): the budget has no room for another token\. Programs that use a token of the store are served all the same\./,
  );
});

test('each part of the bar that has a token has a place, and all together have the width', () => {
  for (const counts of [
    [1, 1, 117, 31],
    [149, 1, 0, 0],
    [0, 0, 120, 30],
    [1, 0, 0, 0],
    [500, 1, 1, 1],
  ]) {
    const widths = places(counts, 60);
    expect(widths.reduce((sum, width) => sum + width, 0)).toBe(60);
    expect(widths.map((width) => width > 0)).toEqual(counts.map((count) => count > 0));
  }
  expect(places([0, 0, 0, 0], 60)).toEqual([0, 0, 0, 0]);
});

test.for([
  [10, {}, 0, 'OK'],
  [96, {}, 1, 'WARNING'],
  [114, { refusedUntil: undefined, refusedBecause: undefined }, 2, 'CRITICAL'],
  [10, { refusedUntil: now + hour, refusedBecause: 'credentials' as const, availableNow: 0 }, 2, 'CRITICAL'],
] as const)('with %i of 120 spent and %o the check ends with %i', ([spent, changes, code, state]) => {
  const outcome = checkLine(usageOf(series(spent, 5, { reason: 'refresh' }), changes), [], { warn: 80, crit: 95 }, now);
  expect(outcome.code).toBe(code);
  expect(outcome.line).toMatch(
    new RegExp(`^${state} - [^|\\n]*\\|used=${spent};96;114;0;120 pending=0;;;0;120 available=\\d+;;;0;120$`),
  );
  expect(outcome.line.includes('refused')).toBe('refusedUntil' in changes && changes.refusedUntil !== undefined);
});

test('a concern makes a good state a warning, is named in the line, and improves no bad one', () => {
  const concern = 'the API rejected the last 9 tokens (401) | and more';
  const outcomeOf = (spent: number) =>
    checkLine(usageOf(series(spent, 5, { reason: 'refresh' })), [concern], { warn: 80, crit: 95 }, now);
  expect(outcomeOf(10)).toMatchObject({
    code: 1,
    line: expect.stringMatching(/^WARNING - [^|]*; the API rejected the last 9 tokens \(401\) \/ and more\|used=10;/),
  });
  expect(outcomeOf(115).code).toBe(2);
});

test.for([
  ['backoff', 5, undefined, 'the last 5 token requests brought no token (no usable answer)'],
  ['backoff', 1, 503, 'the last token request brought no token (the endpoint answered 503)'],
  ['rate_limited', 2, 429, 'the token endpoint answered 429 to the last 2 token requests'],
  ['deaths', 3, undefined, 'the programs of the last 3 token requests ended, or stood still, before the answer'],
  ['rejections', 4, undefined, 'the API rejected the last 4 tokens (401)'],
] as const)('after failures of the kind %s nobody is promised a token', ([kind, count, status, says]) => {
  const sentence = availability(usageOf([]), [{ kind, count, status, retryAt: now - minute }], now);
  expect(sentence).toContain(`The limit leaves room for 110 tokens, but ${says}. `);
});

test('others than those who fail are promised a token while the limit has room', () => {
  const failure = { kind: 'backoff', count: 5, retryAt: now } as const;
  const second = { ...failure, audience: 'https://second.example/' };
  const says = (availableNow: number, ...failures: Failure[]) =>
    availability(usageOf([], { availableNow }), failures, now).replace(/^.*\(no usable answer\)\. /, '');
  const own = 'A caller without a token for https://second.example/ may get none.';
  expect(says(109, second)).toBe(`${own} Others get one.`);
  expect(says(0, second)).toBe(own);
  expect(says(109, second, failure)).toBe(`${own} A caller without a token may get none.`);
});

test('while the next request waits for another one, nobody is promised a token, and nobody is told of room for none', () => {
  const usage = usageOf([], { availableNow: 0 });
  const waits = 'A caller without a token waits for a token request that is under way.';
  expect(availability(usage, [], now)).toBe(waits);
  expect(availability({ ...usage, limit: 1_000_000 }, [], now)).toBe(waits);
  const failure = { kind: 'backoff', count: 2, status: 503, retryAt: now } as const;
  expect(availability(usage, [failure], now)).toMatch(
    /^The next token request waits for one that is under way, and the last 2 token requests brought no token /,
  );
  const { line } = checkLine(usage, [], { warn: 80, crit: 95 }, now);
  expect(line).toContain(', the next request waits for one that is under way|');
});

test('one 401, and failures that nobody met again for an hour, raise no doubt', () => {
  const old = { retryAt: now - 61 * minute };
  const audience = 'https://gone.example/';
  for (const failure of [
    { kind: 'rejections', count: 1, retryAt: now } as const,
    { kind: 'rejections', count: 9, ...old } as const,
    { kind: 'credentials', count: 2, audience, status: 401, ...old } as const,
  ]) {
    expect(availability(usageOf([]), [failure], now)).toBe(
      'A caller without a token gets one now; 110 tokens can be issued, and 10 more for resets.',
    );
  }
});

test('those who keep their token are told that the API rejects it', () => {
  const sentence = availability(
    usageOf(series(115, 5, { reason: 'rejected' })),
    [{ kind: 'rejections', count: 20, retryAt: now + minute }],
    now,
  );
  expect(sentence).toContain(
    'Programs that use a token of the store keep it, but the API of https://api.example/ rejected the last 20 tokens of api-1',
  );
});

test('nothing is forecast from less than an hour, or while something is on hold', () => {
  const pace = { spentAt: now + hour };
  expect(forecast(usageOf(series(12, 4, { reason: 'cold' }), pace), now)).toBe('');
  expect(forecast(usageOf(series(1, 4, { reason: 'cold' })), now)).toBe('');
  const older = series(12, 30, { reason: 'cold' });
  expect(forecast(usageOf(older, pace), now)).toMatch(/as in the last 6 h, the budget is spent at .* \(in 60 min\)\./);
  const holds = [{ kind: 'rate_limited' as const, until: now + hour }];
  expect(forecast(usageOf(older, { ...pace, holds }), now)).toBe('');
  expect(forecast(usageOf(older, { holds }), now)).toBe('');
  const spaced = [{ kind: 'rejections' as const, until: now + hour }];
  expect(forecast(usageOf(older, { ...pace, holds: spaced }), now)).toBe('');
});

test('a new record says how much of what is left can be had now, and why', () => {
  const available = { cold: 22, refresh: 22, rejected: 22, reset: 24 };
  const newRecord = { allowed: 23, remaining: 22, until: now + 26 * hour };
  const usage = usageOf(series(1, 5, { reason: 'cold' }), { available, availableNow: 22, newRecord });
  const until = `23 tokens until ${clockTime(newRecord.until, now)} (in 26 h)`;
  expect(availability(usage, [], now)).toBe(
    `A caller without a token gets one now; 22 tokens can be issued, and 2 more for resets.`,
  );
  const screen = usageScreen(usage, scene, { colours: false, columns: 120, now }).join('\n');
  const [reserve, held] = heldBack(usage, now);
  expect(reserve).toBe('30 of the limit of 150 in reserve');
  expect(held).toBe(`95 held back until ${instant(newRecord.until, now)} because the record is new`);
  const words = screen.replace(/\s+/g, ' ');
  expect(words).toContain(`░ 24 left (2 of them for resets of leaked tokens) · ${reserve} · ${held} Now `);
  const { line } = checkLine(usage, [], { warn: 80, crit: 95 }, now);
  expect(line).toContain(`22 tokens available now: the record is new, and allows ${until}|`);
});

test('a budget that is spent, a new record and tokens that are kept for resets are different sentences', () => {
  const spentAt = { spentAt: now };
  const spent = usageOf(series(120, 5, { reason: 'refresh' }), spentAt);
  expect(forecast(spent, now)).toBe('The budget is spent.');
  const kept = usageOf(series(114, 5, { reason: 'refresh' }), spentAt);
  expect(forecast(kept, now)).toBe(
    'The budget is spent, but for 6 tokens that only a reset of a leaked token may take.',
  );
  const available = { cold: 0, refresh: 0, rejected: 0, reset: 2 };
  const fresh = usageOf(series(28, 5, { reason: 'cold' }), {
    ...spentAt,
    available,
    availableNow: 0,
    refusedUntil: now + hour,
    refusedBecause: 'limit',
    newRecord: { allowed: 28, remaining: 0, until: now + hour },
  });
  expect(forecast(fresh, now)).toBe('The record is new: what it allows at first is spent.');
  expect(availability(fresh, [], now)).toContain(
    `the record is new, and allows 28 tokens until ${instant(now + hour, now)}`,
  );
});

test('the zone of the times is their distance from UTC', () => {
  const { TZ } = process.env;
  const zoneIn = (name: string) => {
    process.env['TZ'] = name;
    return zone(now);
  };
  try {
    expect(['UTC', 'Europe/Berlin', 'America/St_Johns', 'Asia/Kolkata'].map(zoneIn)).toEqual([
      'UTC',
      'UTC+1',
      'UTC-3:30',
      'UTC+5:30',
    ]);
  } finally {
    if (TZ === undefined) delete process.env['TZ'];
    else process.env['TZ'] = TZ;
  }
});

test('tokens of others that lie between are not counted among those that the API rejected', () => {
  const usage = usageOf([
    ...series(5, 10, { reason: 'rejected', instance: 'reports' }),
    ...series(1, 1, { reason: 'cold', instance: 'reports' }, 6),
    ...series(3, 20, { reason: 'rejected', audience: 'https://partner.example/', instance: 'sync' }, 3),
    ...series(9, 3, { reason: 'refresh', audience: 'https://partner.example/', instance: 'api-1' }),
  ]);
  const sentence = availability(usage, [{ kind: 'rejections', count: 8, retryAt: now }], now);
  expect(sentence).toContain('the API of https://api.example/ rejected 5 tokens of reports (401)');
  expect(sentence).toContain('the API of https://partner.example/ rejected the last 3 tokens of sync (401)');
});

test('names that differ only in their middle do not look equal when they are cut', () => {
  const partner = (name: string) => `https://service.example/${name}/of-the-partner/with/a/long/path/`;
  const cases = [
    ['audience', partner('orders'), partner('reports')],
    ['orders-7f9c4d5b6-aaaaa-production', 'orders-7f9c4d5b6-bbbbb-production', 'orders-7f9c4d5b7-bbbbb-production'],
    [partner('a1'), partner('a2'), partner('b1'), partner('b2'), 'https://other.example/'],
  ];
  for (const names of cases) {
    for (const columns of [12, 16, 24, 30]) {
      const shown = cutApart(names, columns);
      expect(new Set(shown).size, shown.join()).toBe(names.length);
      for (const name of shown) expect(name.length).toBeLessThanOrEqual(columns);
    }
  }
  expect(cutApart(['https://api.example/', 'short'], 30)).toEqual(['https://api.example/', 'short']);
  expect(cutApart(['https://api.example/', 'short'], 14)).toEqual(['api.example/', 'short']);
});

test('what is spent of the reserve is not in it any more, and where there is none, none is named', () => {
  expect(heldBack(usageOf([], { used: 130, remaining: 0 }), now)).toEqual(['20 of the limit of 150 in reserve']);
  expect(heldBack(usageOf([], { usable: 150, remaining: 150 }), now)).toEqual([]);
});

test('an audience that several holds are for waits for the last of them', () => {
  const held = (audience: string, minutes: number) => {
    return { kind: 'credentials', audience, until: now + minutes * minute, status: 401 } as const;
  };
  const [first, second] = ['https://first.example/', 'https://second.example/'];
  const usage = usageOf([], {
    holds: [held(first, 5), held(first, 7), held(second, 6)],
    refusedUntil: now + 7 * minute,
    refusedBecause: 'credentials',
  });
  expect(availability(usage, [], now)).toContain(`The next try is at ${instant(now + 6 * minute, now)}.`);
  const evidence = (audiences: string[]) => explain(usage, { now, audiences, failures: [] })[0]?.evidence;
  expect(evidence([])).toContain(`tried again after ${instant(now + 6 * minute, now)};`);
  expect(evidence([first])).toContain(`tried again after ${instant(now + 7 * minute, now)};`);
});
