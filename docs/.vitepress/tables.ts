import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './repository.ts';

/** What a program measured, for a page to show: `docs/data/NAME.json`. */
interface Measured {
  readonly tables: readonly { readonly columns: readonly string[]; readonly rows: readonly (readonly string[])[] }[];
  /** When and where it was measured. */
  readonly note?: string;
}

/** Puts the tables of `docs/data` where a page says `<!-- table: NAME -->`. GitHub shows nothing there, so the page links to the file as well. */
export function withTables(markdown: string): string {
  return markdown.replace(/^<!-- table: ([\w/-]+) -->$/gm, (_, name: string) => {
    const { tables, note } = JSON.parse(readFileSync(join(root, `docs/data/${name}.json`), 'utf8')) as Measured;
    return [...tables.map(tableOf), ...(note === undefined ? [] : [`_${note}_`])].join('\n\n');
  });
}

function tableOf({ columns, rows }: Measured['tables'][number]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(columns), line(columns.map((_, index) => (index === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n');
}
