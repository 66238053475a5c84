import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { places } from '../src/report/bar.ts';
import { checkLine } from '../src/report/check-line.ts';
import { type Scene, usageScreen } from '../src/report/screen.ts';
import { hour, minute, names, now, series, usageOf } from './journals.ts';

const scene: Scene = {
  client: 'my-client',
  authUrl: 'https://auth.example.com',
  store: 'redis://cache',
  durability: 'replicated',
  hasRecord: true,
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

test('the screen says who spent what and why, what is on hold, the forecast, and what the store is', () => {
  const screen = usageScreen(busy, scene, { colours: false, columns: 100, now }).join('\n');
  for (const part of [
    /^Budget +█+▓+░+·+ /m,
    /38 of 120 usable tokens spent in 24 h\./,
    /▓ 2 pending/,
    /· 30 kept back of the limit of 150/,
    /A caller without a token gets one now/,
    /the budget is spent at .* \(in 5 h\)\. The next token leaves the window at .* \(in 60 min\), others at /,
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
    /A caller without a token is refused until .* \(in 60 min\): the budget has no room for it\. Programs that use a token of the store are served all the same\./,
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
  const outcome = checkLine(usageOf(series(spent, 5, { reason: 'refresh' }), changes), { warn: 80, crit: 95 }, now);
  expect(outcome.code).toBe(code);
  expect(outcome.line).toMatch(
    new RegExp(`^${state} - [^|\\n]*\\|used=${spent};96;114;0;120 pending=0;;;0;120 available=\\d+;;;0;120$`),
  );
  expect(outcome.line.includes('refused')).toBe('refusedUntil' in changes && changes.refusedUntil !== undefined);
});
