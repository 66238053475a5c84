import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createTableSql } from '../src/index.ts';

test('the migration for D1 in the README creates the table of the store', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const [, migration] = /```sql\n([\s\S]*?)\n```/.exec(readme) ?? [];
  expect(migration).toBe(createTableSql().trim());
});
