// `pnpm test` runs the quick tests, and in CI what the check does: it measures the coverage of the ledger, too. With an argument, such as a folder, it runs any test file: `pnpm test packages/cli`.
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { checks, quick } from './checks.ts';

const argv = process.argv.slice(2);
const isWhole = argv.every((argument) => argument.startsWith('-'));
const hasProject = argv.some((argument) => argument.startsWith('--project'));
// These need what their checks install, or run files again with older dependencies.
const projects = hasProject ? [] : isWhole ? [quick] : ['--project=!frameworks', '--project=!compat*'];
if (!isWhole && !argv.some((argument) => argument.startsWith('-') || hasFiles(argument))) {
  console.error(`No path of a test file contains ${argv.join(' or ')}.`);
  console.error('Name a package, a folder or a part of a file name, such as: axios, tests/protocol, reset');
  process.exitCode = 1;
} else {
  const isCheck = argv.length === 0 && process.env['CI'];
  const [command, ...options] =
    isCheck && checks['test'] ? checks['test'].run : ['vitest', 'run', ...projects, ...argv];
  process.exitCode = spawnSync(command ?? '', options, { stdio: 'inherit' }).status ?? 1;
}

/** Returns whether the path of a test file contains the filter, which may be a path with a line. */
function hasFiles(filter: string): boolean {
  const part = filter.replace(/^\.\//, '').replace(/:\d+$/, '');
  const files = globSync('**/*.test.ts', { exclude: (name) => name === 'node_modules' });
  return files.some((file) => `${process.cwd()}/${file}`.includes(part));
}
