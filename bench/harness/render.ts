import { styleText } from 'node:util';
import type { Answer, Goal, Row, Table } from './answer.ts';

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

/** For the document. */
export function markdownOf(answer: Answer): string {
  return answer.tables.map(markdownTable).join('\n\n');
}

function markdownTable({ title, columns, rows }: Table): string {
  const head = `| ${title} | ${columns.join(' | ')} |\n| --- |${' ---: |'.repeat(columns.length)}`;
  const body = rows.map(
    (row) => `| ${[row.kind === 'ours' ? `**${row.name}**` : row.name, ...row.cells].join(' | ')} |`,
  );
  return [head, ...body].join('\n');
}

export function goalTable(goals: readonly Goal[]): string {
  const rows = goals.map(
    ({ text, aim, measured, met }) => `| ${text} | ${aim} | ${measured} | ${met ? 'met' : '**missed**'} |`,
  );
  return ['| goal | aim | measured | |', '| --- | ---: | ---: | --- |', ...rows].join('\n');
}

function styleOf(row: Row | undefined): 'cyan' | 'dim' | 'reset' {
  return row?.kind === 'ours' ? 'cyan' : row?.kind === 'limit' ? 'dim' : 'reset';
}
