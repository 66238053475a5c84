import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const reports = globSync('api/*.api.md', { cwd: root }).map(read);
const page = read('docs/stability.md');

/** Everything in the reports that has this mark: `@service-auth/core/record`, or `D1Binding` of `@service-auth/sqlite`. */
function marked(mark: string): string[] {
  return reports.flatMap((report) => {
    const [, owner] = /^# The API of (.+)$/m.exec(report) ?? [];
    const line = `/\\*\\* .*${mark}.* \\*/\n`;
    const entries = [...report.matchAll(new RegExp(`^## (.+)\n\n\`\`\`ts\n${line}\n`, 'gm'))];
    const names = [...report.matchAll(new RegExp(`^${line}(?:export )?(?:abstract )?[a-z]+ (\\w+)`, 'gm'))];
    return [...entries.map(([, entry]) => `\`${entry}\``), ...names.map(([, name]) => `\`${name}\` of \`${owner}\``)];
  });
}

test('the page lists what has the mark @experimental, and nothing else of the packages', () => {
  const rows = [...page.matchAll(/^\| (`[^|]+) \|/gm)].map(([, cell = '']) => cell);
  expect(rows.toSorted()).toEqual(marked('@experimental').toSorted());
});

test('the page says that nothing is deprecated, as long as nothing has the mark', () => {
  expect(page.includes('Nothing is deprecated now.')).toBe(marked('@deprecated').length === 0);
});
