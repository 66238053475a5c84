import { expect, test } from 'vitest';
import { atMost, numberText, spreadText } from '../harness/answer.ts';
import { svgOf } from '../harness/chart.ts';
import { ratioOf, spreadOf } from '../harness/statistics.ts';
import { terminalPicture, themes } from '../harness/terminal-svg.ts';

test('a ratio is taken round by round, so that a slow moment counts for both', () => {
  const rounds = { base: [10, 100, 10], twice: [20, 200, 20] };
  expect(ratioOf([rounds], 'twice', 'base')).toEqual({ median: 2, min: 2, max: 2 });
});

test('of several processes, least and most are the middle of a process each', () => {
  const runs = [
    { base: [1, 1, 1], other: [1, 2, 9] },
    { base: [1, 1, 1], other: [3, 3, 3] },
  ];
  expect(ratioOf(runs, 'other', 'base')).toEqual({ median: 3, min: 2, max: 3 });
});

test('what was not measured meets no goal', () => {
  expect(ratioOf([{ base: [1] }], 'missing', 'base').median).toBeNaN();
  expect(atMost('a goal', 1, spreadOf([])).met).toBe(false);
  expect(atMost('a goal', 1, spreadOf([1, 1.1])).met).toBe(false);
  expect(atMost('a goal', 1, spreadOf([0.9, 1])).met).toBe(true);
});

test('figures have as many digits as they need', () => {
  expect(spreadText({ median: 1.034, min: 0.9, max: 12.34 })).toBe('1.03 (0.90–12.3)');
  expect([numberText(10_000), numberText(Number.NaN)]).toEqual(['10,000', '–']);
});

test('a chart escapes names, and ends its whiskers at its edge', () => {
  const value = { median: 2, min: 1, max: 400 };
  const bars = [{ name: 'a <b> & c', kind: 'peer', value, label: '2' } as const];
  const svg = svgOf({ title: 'x', logarithmic: false, bars }, 'dark');
  expect(svg).toContain('a &lt;b&gt; &amp; c');
  const ends = [...svg.matchAll(/x2="([\d.]+)"/g)].map(([, x]) => Number(x));
  expect(Math.max(...ends)).toBeLessThanOrEqual(400);
});

test.each(themes)(
  'a picture of a terminal in the theme $name keeps columns, and no text of it has two spaces in a row',
  (theme) => {
    const svg = terminalPicture('usage', '\u001B[36m  spent  \u001B[39m 6 of 75  usable', theme);
    const pieces = [...svg.matchAll(/<text x="([\d.]+)"[^>]* textLength="([\d.]+)"[^>]*>([^<]*)</g)];
    const columns = pieces.map(([, x, length, text]) => [text, (Number(x) - 16) / 8.4, Number(length) / 8.4]);
    expect(columns.map(([text, ...numbers]) => [text, ...numbers.map((number) => Math.round(Number(number)))])).toEqual(
      [
        ['$ usage', 0, 7],
        ['spent', 2, 5],
        ['6 of 75', 10, 7],
        ['usable', 19, 6],
      ],
    );
  },
);
