import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Answer } from './answer.ts';
import { svgOf, themeNames } from './chart.ts';
import { dataOf, goalTable } from './render.ts';

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));

/** The command and the time of a measurement. */
export interface Run {
  readonly command: string;
  /** The commit that was measured, shortened. */
  readonly commit: string;
  /** The machine's load average just before it. */
  readonly load: number;
}

/** Writes an answer to `docs/data/performance`, from where the page takes its tables, and its chart to `docs/performance`. Returns the files. */
export function writeAnswer(name: string, { tables, goals, chart }: Answer, run: Run): string[] {
  const measured = { tables: [goalTable(goals), ...tables.map(dataOf)], note: describeRun(run) };
  const files = {
    [`data/performance/${name}.json`]: `${JSON.stringify(measured, null, 2)}\n`,
    ...(chart &&
      Object.fromEntries(themeNames.map((theme) => [`performance/${name}-${theme}.svg`, svgOf(chart, theme)]))),
  };
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(docs, file)), { recursive: true });
    writeFileSync(join(docs, file), text);
  }
  return Object.keys(files).map((file) => `docs/${file}`);
}

function describeRun({ command, commit, load }: Run): string {
  const processors = cpus();
  const machine = `${processors.length} × ${processors[0]?.model ?? 'unknown processor'}, ${process.platform}`;
  const date = new Date().toISOString().slice(0, 10);
  return `\`${command}\`, ${date}, commit ${commit}, Node ${process.versions.node}, ${machine}, load average before it ${load.toFixed(1)}.`;
}
