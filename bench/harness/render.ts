import { styleText } from 'node:util';
import type { Goal, Row, Table } from './answer.ts';

/** For the terminal. */
export function textOf(table: Table): string {
  const lines = [['', ...table.columns], ...table.rows.map((row) => [row.name, ...row.cells])];
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? [];
  const aligned = lines.map((line) =>
    line
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  '),
  );
  const [head = '', ...body] = aligned;
  const styled = body.map((line, index) => styleText(styleOf(table.rows[index]), line));
  return [styleText('bold', table.title), styleText('dim', head), ...styled].join('\n');
}

export function goalText({ text, aim, measured, met }: Goal): string {
  return styleText(met ? 'green' : 'yellow', `${met ? '✓' : '✗'} ${text}: ${measured}, aim ${aim}`);
}

/** A table as a page shows it: the columns have the title first, and each row its name. */
export interface DataTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export function dataOf({ title, columns, rows }: Table): DataTable {
  return {
    columns: [title, ...columns],
    rows: rows.map((row) => [row.kind === 'ours' ? `**${row.name}**` : row.name, ...row.cells]),
  };
}

export function goalTable(goals: readonly Goal[]): DataTable {
  const rows = goals.map(({ text, aim, measured, met }) => [text, aim, measured, met ? 'met' : '**missed**']);
  return { columns: ['goal', 'aim', 'measured', ''], rows };
}

function styleOf(row: Row | undefined): 'cyan' | 'dim' | 'reset' {
  return row?.kind === 'ours' ? 'cyan' : row?.kind === 'limit' ? 'dim' : 'reset';
}
