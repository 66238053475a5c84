import { expect, test } from 'vitest';
import { readDocuments } from '../../scripts/documents.ts';
import { descriptionOf } from '../.vitepress/descriptions.ts';
import { missedGoals, readMeasured, withTables } from '../.vitepress/tables.ts';

// What programs and decisions say is for those who develop Service Auth.
const pages = readDocuments().filter(({ path }) => /^(README|docs\/(?!decisions|evidence)|packages)/.test(path));

test('no comment in the code of a page goes beyond column 72, where a narrow window ends', () => {
  const long: string[] = [];
  for (const { path, lines } of pages) {
    let isCode = false;
    for (const [index, line] of lines.entries()) {
      if (/^\s*```/.test(line)) isCode = !isCode;
      else if (isCode && line.length > 72 && /(^|\s)(\/\/|#) /.test(line)) long.push(`${path}:${index + 1}`);
    }
  }
  expect(pages.length).toBeGreaterThan(40);
  expect(long).toEqual([]);
});

test('the description of a page is what it says first, without links and code', () => {
  const page = '# Title\n\n[A](a.md) · [B](b.md)\n\n| a |\n| --- |\n\n**One** [`token`](t.md). Two.\n\nThree.\n';
  expect(descriptionOf(page)).toBe('One token. Two.');
});

test('a description ends with a whole sentence', () => {
  const page = `# Title\n\n${'A sentence that is not very short. '.repeat(20)}`;
  expect(descriptionOf(page)).toMatch(/short\.$/);
  expect(descriptionOf(page).length).toBeLessThanOrEqual(160);
});

test('a figure in a sentence is the measured one, rounded', () => {
  const text = pages.map(({ lines }) => lines.join('\n')).join('\n');
  const figures = [...text.matchAll(/([\d.]+)( %)?<!-- of ([\w/-]+): (.+?) -->/g)];
  expect(figures.length).toBeGreaterThan(5);
  for (const [, shown = '', percent, name = '', goal = ''] of figures) {
    const rows = readMeasured(name).tables[0]?.rows.filter(([text = '']) => text.startsWith(goal)) ?? [];
    expect(rows, goal).toHaveLength(1);
    const ratio = Number.parseFloat(rows[0]?.[2] ?? '');
    const measured = percent ? (ratio - 1) * 100 : ratio;
    expect(measured.toFixed(shown.split('.')[1]?.length ?? 0), goal).toBe(shown);
  }
});

test('the page about performance begins with every goal that is missed', () => {
  const { rows } = missedGoals('performance');
  expect(rows.length).toBeGreaterThan(0);
  const table = withTables('<!-- missed goals: performance -->').replaceAll('\u00a0', ' ');
  for (const [goal = '', aim] of rows) expect(table).toContain(`| ${goal} | ${aim} |`);
  const page = pages.find(({ path }) => path === 'docs/performance.md');
  const parts = page?.lines.filter((line) => line.startsWith('## ')) ?? [];
  expect([parts[0], page?.lines.includes('<!-- missed goals: performance -->')]).toEqual([
    '## Which goals are missed?',
    true,
  ]);
});

test('the comparison begins with the day that was played, figure by figure', () => {
  const page = pages.find(({ path }) => path === 'docs/comparison.md');
  const first = page?.lines.findIndex((line) => line.startsWith('|')) ?? -1;
  const shown = page?.lines.slice(first, page.lines.indexOf('', first)).map((line) => line.slice(2, -2).split(' | '));
  const [, played] = readMeasured('performance/same-day').tables;
  expect(played?.rows.length).toBe(8);
  expect(shown?.filter((_, index) => index !== 1)).toEqual([played?.columns, ...(played?.rows ?? [])]);
});
