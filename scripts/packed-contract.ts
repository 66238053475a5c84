// The contract of HTTP clients against the packed packages, on whichever Node.
import { join } from 'node:path';
import { build } from 'esbuild';
import type { ContractReport } from '../tests/compat/http-clients/report.ts';
import type { Node } from '../tests/runtimes/engines.ts';
import { root } from './packages.ts';

/** Runs a command to its end and returns what it printed. `timeout`: in milliseconds. */
export type Run = (command: string, argv: string[], cwd: string, timeout?: number) => Promise<string>;

/** Puts a program of tests/compat/http-clients into a folder where all that it imports is installed: as JavaScript, for Node 20 runs nothing else. */
export async function bundleContract(program: string, folder: string): Promise<void> {
  await build({
    entryPoints: [join(root, 'tests/compat/http-clients', program)],
    outfile: join(folder, 'contract.js'),
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
  });
}

/** Runs the program of the folder. Throws unless all cases pass, and there are some. */
export async function runContract(run: Run, { major, file }: Node, folder: string): Promise<ContractReport> {
  const report = JSON.parse(await run(file, ['contract.js'], folder, 600_000)) as ContractReport;
  if (report.problems.length > 0 || report.passed === 0) {
    throw new Error(
      `The contract of HTTP clients on Node ${major}: ${report.passed} pass\n${report.problems.join('\n')}`,
    );
  }
  return report;
}
