import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Answer, Chart } from './answer.ts';
import { svgOf, themeNames } from './chart.ts';
import { goalTable, markdownOf } from './render.ts';

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

/**
 * Puts an answer into `docs/performance.md`, between `<!-- bench: name -->` and `<!-- /bench -->`, and its charts beside it. The rest of
 * the document is written by people. Returns the files.
 */
export function writeAnswer(name: string, answer: Answer, run: Run): string[] {
  const file = join(docs, 'performance.md');
  const document = readFileSync(file, 'utf8');
  const begin = `<!-- bench: ${name} -->`;
  const from = document.indexOf(begin);
  const to = document.indexOf('<!-- /bench -->', from);
  if (from < 0 || to < 0) throw new Error(`${file} has no place for ${name}.`);
  writeFileSync(file, `${document.slice(0, from)}${begin}\n\n${partOf(name, answer, run)}\n\n${document.slice(to)}`);

  mkdirSync(join(docs, pictures), { recursive: true });
  const charts = answer.charts.flatMap((chart, index) => draw(pictureName(name, index), chart));
  return ['docs/performance.md', ...charts.map((chart) => `docs/${pictures}/${chart}`)];
}

function partOf(name: string, answer: Answer, run: Run): string {
  const charts = answer.charts.map(({ title }, index) => {
    const path = `${pictures}/${pictureName(name, index)}`;
    return [
      '<picture>',
      `<source media="(prefers-color-scheme: dark)" srcset="${path}-dark.svg">`,
      `<img alt="${title}" src="${path}-light.svg">`,
      '</picture>',
    ].join('\n');
  });
  return [goalTable(answer.goals), ...charts, markdownOf(answer), describeRun(run)].join('\n\n');
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
  return `_\`${command}\`, ${date}, commit ${commit}, Node ${process.versions.node}, ${machine}, load average before it ${load.toFixed(1)}._`;
}
