import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './repository.ts';

interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** What a program measured, for a page to show: `docs/data/NAME.json`. */
interface Measured {
  readonly tables: readonly Table[];
  /** When and where it was measured. */
  readonly note?: string;
}

/**
 * Puts the tables of `docs/data` where a page says `<!-- table: NAME -->`, and the goals that a folder of them misses where it says
 * `<!-- missed goals: FOLDER -->`. GitHub shows nothing there, so the page links to the files as well.
 */
export function withTables(markdown: string): string {
  return markdown
    .replace(/^<!-- missed goals: ([\w/-]+) -->$/gm, (_, folder: string) => tableOf(missedGoals(folder)))
    .replace(/^<!-- table: ([\w/-]+) -->$/gm, (_, name: string) => {
      const { tables, note } = readMeasured(name);
      const parts = tables.map((table) => (isLong(name, table) ? folded(tableOf(table)) : tableOf(table)));
      return [...parts, ...(note === undefined ? [] : [`_${note}_`])].join('\n\n');
    });
}

/** The goals of a folder of `docs/data` that are missed. */
export function missedGoals(folder: string): Table {
  const files = globSync(`docs/data/${folder}/*.json`, { cwd: root }).sort();
  const rows = files
    .flatMap((file) => readMeasured(file.replace(/^docs\/data\/|\.json$/g, '')).tables)
    .filter(isGoals)
    .flatMap((table) => table.rows.filter(([, , , met]) => met === '**missed**'));
  return { columns: ['goal', 'aim', 'measured'], rows: rows.map((row) => row.slice(0, 3)) };
}

export function readMeasured(name: string): Measured {
  return JSON.parse(readFileSync(join(root, `docs/data/${name}.json`), 'utf8')) as Measured;
}

const isGoals = ({ columns: [first] }: Table) => first === 'goal';
const isLong = (name: string, table: Table) => name.startsWith('performance/') && !isGoals(table);

function folded(table: string): string {
  const [, rows] = table.split('\n| --- ');
  return `<details><summary>All ${rows?.split('\n').slice(1).length} rows</summary>\n\n${table}\n\n</details>`;
}

function tableOf({ columns, rows }: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.map(unbroken).join(' | ')} |`;
  return [line(columns), line(columns.map((_, index) => (index === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n');
}

/** Keeps a sign on the line of its number. */
function unbroken(cell: string): string {
  return cell.replace(/([≤≥<>]) (?=\d)/g, '$1\u00a0');
}
