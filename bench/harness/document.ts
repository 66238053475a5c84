import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Answer, Chart } from './answer.ts';
import { svgOf, themeNames } from './chart.ts';
import { dataOf, goalTable } from './render.ts';

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));
const pictures = 'performance';

/** The command and the time of a measurement. */
export interface Run {
  readonly command: string;
  /** The commit that was measured, shortened. */
  readonly commit: string;
  /** The machine's load average just before it. */
  readonly load: number;
}

/** Writes an answer to `docs/data/performance`, from where the page takes its tables, and its charts to `docs/performance`. Returns the files. */
export function writeAnswer(name: string, answer: Answer, run: Run): string[] {
  const data = join('data/performance', `${name}.json`);
  const measured = { tables: [goalTable(answer.goals), ...answer.tables.map(dataOf)], note: describeRun(run) };
  mkdirSync(join(docs, 'data/performance'), { recursive: true });
  writeFileSync(join(docs, data), `${JSON.stringify(measured, null, 2)}\n`);

  mkdirSync(join(docs, pictures), { recursive: true });
  const charts = answer.charts.flatMap((chart, index) => draw(pictureName(name, index), chart));
  return [`docs/${data}`, ...charts.map((chart) => `docs/${pictures}/${chart}`)];
}

function draw(name: string, chart: Chart): string[] {
  return themeNames.map((theme) => {
    const file = `${name}-${theme}.svg`;
    writeFileSync(join(docs, pictures, file), svgOf(chart, theme));
    return file;
  });
}

function pictureName(name: string, index: number): string {
  return index === 0 ? name : `${name}-${index + 1}`;
}

function describeRun({ command, commit, load }: Run): string {
  const processors = cpus();
  const machine = `${processors.length} × ${processors[0]?.model ?? 'unknown processor'}, ${process.platform}`;
  const date = new Date().toISOString().slice(0, 10);
  return `\`${command}\`, ${date}, commit ${commit}, Node ${process.versions.node}, ${machine}, load average before it ${load.toFixed(1)}.`;
}
