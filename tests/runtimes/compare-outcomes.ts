// Causes each failure of a token request on every runtime, and compares its cost with docs/data/outcomes.json. `pnpm check outcomes`
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installPacked } from '@service-auth/test-tools/packages/packed';
import { build } from 'esbuild';
import { installEngines, isInstalled } from './engines.ts';
import { startFailures } from './failures.ts';
import { type Cells, columnsOf, meetAll, render, textOf } from './outcomes.ts';

const folder = mkdtempSync(join(tmpdir(), 'service-auth-outcomes-'));
const failures = await startFailures();

try {
  await installEngines();
  const core = join(folder, 'node_modules/@service-auth/core');
  await installPacked(folder, ['core']);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ dependencies: { '@service-auth/core': '*' } }));
  writeFileSync(join(folder, 'outcomes.mjs'), await bundle('outcomes-program.ts', {}));
  const alias = {
    '@service-auth/core/oauth2': join(core, 'dist/oauth2/index.js'),
    '@service-auth/core': join(core, 'dist/index.js'),
  };
  const columns = columnsOf(folder, await bundle('outcomes-worker.ts', alias));

  let complete = true;
  const cells: Cells[] = [];
  for (const column of columns) {
    const measured: Cells[] = [];
    for (const program of column.programs) {
      if (isInstalled(program.name, program.file)) measured.push(await meetAll(column, program, failures));
      else complete = false;
    }
    cells.push(agreed(column.title, measured));
  }
  const rendered = render(failures, columns, cells);
  const page = new URL('../../docs/data/outcomes.json', import.meta.url);
  if (process.argv.includes('--write')) writeFileSync(page, rendered);
  if (complete && rendered !== textOf(JSON.parse(readFileSync(page, 'utf8')))) {
    console.error(
      `docs/data/outcomes.json says something else; node tests/runtimes/compare-outcomes.ts --write puts this there:\n${rendered}`,
    );
    process.exitCode = 1;
  }
} finally {
  failures.close();
  rmSync(folder, { recursive: true, force: true });
}

/** Programs of one column must agree; a program that was not asked agrees with every other one. */
function agreed(title: string, measured: readonly Cells[]): Cells {
  const cells: Cells = new Map();
  for (const { name } of failures.all) {
    const costs = new Set(measured.map((each) => each.get(name) ?? '–').filter((cost) => cost !== '–'));
    if (costs.size > 1) throw new Error(`${title} does not agree about "${name}": ${[...costs].join(', ')}`);
    cells.set(name, [...costs][0] ?? '–');
  }
  return cells;
}

async function bundle(entry: string, alias: Record<string, string>): Promise<string> {
  const inside = Object.keys(alias).length > 0;
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`suite/${entry}`, import.meta.url))],
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    write: false,
    ...(inside ? { alias } : { external: ['@service-auth/*'] }),
  });
  return outputFiles[0]?.text ?? '';
}
