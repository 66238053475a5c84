import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../../', import.meta.url);
const equivalents = JSON.parse(readFileSync(new URL('tests/mutation/equivalent.json', root), 'utf8')) as {
  readonly file: string;
  readonly line: string;
}[];

test('every mutant that no test can notice is one of a line that still exists', () => {
  // If this fails, delete the entries that it names from tests/mutation/equivalent.json: `pnpm mutation` shows whether others take their place.
  const stale = equivalents.filter(({ file, line }) => {
    const lines = readFileSync(new URL(file, root), 'utf8').split('\n');
    return !lines.some((candidate) => candidate.trim() === line);
  });
  expect(stale).toEqual([]);
});
