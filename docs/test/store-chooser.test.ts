import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { belongings, failures, fits, places, type StoreAnswers, sharings } from '../.vitepress/theme/store-answers.ts';

const page = readFileSync(new URL('../choosing-a-store.md', import.meta.url), 'utf8');
const [, table = ''] = /<StoreChooser>\n\n([\s\S]*?)\n\n<\/StoreChooser>/.exec(page) ?? [];
const rows = table
  .split('\n')
  .slice(2)
  .map((line) =>
    line
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1),
  );

const none: StoreAnswers = { place: '', has: [], sharing: '', failure: '' };

/** The functions that make the stores that fit. */
function chosen(answers: Partial<StoreAnswers>): string[] {
  const found = rows.filter((row) => fits(row, { ...none, ...answers }));
  return found.map(([, store = '']) => /`(\w+)\(/.exec(store)?.[1] ?? store);
}

test('without an answer every row of the table fits', () => {
  expect(rows.length).toBeGreaterThan(8);
  expect(chosen({})).toHaveLength(rows.length);
});

test('each answer leaves some stores, and excludes others', () => {
  const answers: Partial<StoreAnswers>[] = [
    ...places.map((place) => ({ place })),
    ...sharings.map((sharing) => ({ sharing })),
    ...failures.map((failure) => ({ failure })),
    ...belongings.map((thing) => ({ has: [thing] })),
  ];
  for (const answer of answers) {
    expect(chosen(answer).length, JSON.stringify(answer)).toBeGreaterThan(0);
    expect(chosen(answer).length, JSON.stringify(answer)).toBeLessThan(rows.length);
  }
});

test('a fleet on several machines is not offered a file, and Workers are offered what runs there', () => {
  const several = { sharing: 'several machines' };
  expect(chosen({ ...several, has: ['PostgreSQL'] })).toEqual(['postgresStore']);
  expect(chosen({ ...several, has: ['Redis or Valkey', 'AWS'], failure: 'a failover' })).toEqual([
    'dynamodbStore',
    'redisStore',
  ]);
  expect(chosen({ place: 'Workers', has: ['Cloudflare'], ...several })).toEqual(['sqliteStore', 'durableObjectStore']);
});

test('a machine that has no store gets the file, and the memory only if nothing is to be survived', () => {
  expect(chosen({ has: ['another store'], sharing: 'one machine', failure: 'a crash' })).toContain('fileStore');
  expect(chosen({ place: 'a server', sharing: 'one process', failure: 'nothing' })).toContain(
    'the default: the memory of the process',
  );
  expect(chosen({ failure: 'a crash' })).not.toContain('the default: the memory of the process');
});
