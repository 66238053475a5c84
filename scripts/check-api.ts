// Compares what each package offers to TypeScript with its report in the folder `api`, so that a change of it is seen in a review. `--write` updates them.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readPackages, root } from '../tests/support/tools/packages/packages.ts';
import { reportsOfApi } from './api-report.ts';

const folder = join(root, 'api');
mkdirSync(folder, { recursive: true });
const reports = new Map(
  [...reportsOfApi(readPackages())].map(([name, report]) => [`${name.replace(/^.*\//, '')}.api.md`, report]),
);
const present = new Map(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
const changed = [...new Set([...reports.keys(), ...present.keys()])].filter(
  (file) => reports.get(file) !== present.get(file),
);
for (const file of changed) {
  const report = reports.get(file);
  if (!process.argv.includes('--write')) {
    const now = new Set(report?.split('\n'));
    const before = new Set(present.get(file)?.split('\n'));
    console.error(`api/${file} is not what the sources say. If the change is wanted, run \`pnpm fix\` and commit it.`);
    for (const line of before) if (!now.has(line)) console.error(`  - ${line}`);
    for (const line of now) if (!before.has(line)) console.error(`  + ${line}`);
    process.exitCode = 1;
  } else if (report === undefined) rmSync(join(folder, file));
  else writeFileSync(join(folder, file), report);
}
console.log(`${reports.size} packages have a report.`);
