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

/** The calls that create the stores that fit. */
function chosen(answers: Partial<StoreAnswers>): string[] {
  const found = rows.filter((row) => fits(row, { ...none, ...answers }));
  return found.map(([, store = '']) => /`(\w+\(.*?\))`/.exec(store)?.[1] ?? store);
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

const memory = 'the default: the memory of the process';
const own = '[a store of your own](../packages/testing/README.md#write-a-store)';
const ofWorkers = ['durableObjectStore(env.SERVICE_AUTH)', 'sqliteStore(env.DB)'];

const right: Record<string, Record<string, string[]>> = {
  'a server': {
    SQLite: [memory, 'fileStore()', 'sqliteStore(database)', 'sqliteStore(client)'],
    PostgreSQL: [memory, 'fileStore()', 'postgresStore(pool)'],
    'MySQL or MariaDB': [memory, 'fileStore()', 'mysqlStore(pool)'],
    AWS: [memory, 'fileStore()', 'dynamodbStore(client)'],
    'Redis or Valkey': [memory, 'fileStore()', 'redisStore(client)'],
    Cloudflare: [memory, 'fileStore()'],
    'another store': [memory, 'fileStore()', own],
  },
  'a function': {
    SQLite: ['sqliteStore(client)'],
    PostgreSQL: ['postgresStore(pool)'],
    'MySQL or MariaDB': ['mysqlStore(pool)'],
    AWS: ['dynamodbStore(client)'],
    'Redis or Valkey': ['redisStore(client)'],
    Cloudflare: [],
    'another store': [own],
  },
  // Whoever runs Workers has Cloudflare.
  Workers: {
    SQLite: ofWorkers,
    PostgreSQL: ofWorkers,
    'MySQL or MariaDB': ofWorkers,
    AWS: ofWorkers,
    'Redis or Valkey': ['redisStore(client)', ...ofWorkers],
    Cloudflare: ofWorkers,
    'another store': [...ofWorkers, own],
  },
};
const combinations = places.flatMap((place) => belongings.map((thing) => ({ place, thing })));

test.each(combinations)('whoever runs in $place and has $thing gets the stores that work there', ({ place, thing }) => {
  expect(chosen({ place, has: [thing] })).toEqual(right[place]?.[thing]);
});

test('whoever has several things gets the stores of all of them', () => {
  for (const place of places) {
    const all = new Set(belongings.flatMap((thing) => chosen({ place, has: [thing] })));
    expect(new Set(chosen({ place, has: [...belongings] }))).toEqual(all);
  }
});

test('functions and Workers never get the memory of a process or a directory, whatever else was answered', () => {
  for (const place of ['a function', 'Workers'])
    for (const sharing of ['', ...sharings])
      for (const failure of ['', ...failures])
        for (const thing of ['', ...belongings]) {
          const found = chosen({ place, sharing, failure, has: thing === '' ? [] : [thing] });
          expect(found, `${place}, ${sharing}, ${failure}, ${thing}`).not.toContain(memory);
          expect(found, `${place}, ${sharing}, ${failure}, ${thing}`).not.toContain('fileStore()');
        }
});

test('a fleet on several machines gets no file', () => {
  const sharing = 'several machines';
  expect(chosen({ sharing, has: ['PostgreSQL'] })).toEqual(['postgresStore(pool)']);
  expect(chosen({ sharing, has: ['Redis or Valkey', 'AWS'], failure: 'a failover' })).toEqual([
    'dynamodbStore(client)',
    'redisStore(client)',
  ]);
  expect(chosen({ sharing, has: ['SQLite'], place: 'a function' })).toEqual(['sqliteStore(client)']);
  expect(chosen({ sharing, has: ['SQLite'], place: 'a server' })).toEqual(['sqliteStore(client)']);
});

test('a machine that has no store gets the file, and the memory only if nothing is to be survived', () => {
  const machine = { place: 'a server', has: ['another store'] };
  expect(chosen({ ...machine, sharing: 'one machine', failure: 'a crash' })).toEqual(['fileStore()', own]);
  expect(chosen({ ...machine, sharing: 'one process', failure: 'nothing' })).toEqual([memory, 'fileStore()', own]);
  expect(chosen({ failure: 'a crash' })).not.toContain(memory);
});
