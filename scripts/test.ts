// `pnpm test` runs the quick tests. With an argument, such as a folder, it runs any test file: `pnpm test packages/cli`.
import { spawnSync } from 'node:child_process';
import { quick } from './suites.ts';

const argv = process.argv.slice(2);
const isWhole = argv.every((argument) => argument.startsWith('-'));
const hasProject = argv.some((argument) => argument.startsWith('--project'));
// These need what their checks install, or run files again with older dependencies.
const projects = hasProject ? [] : isWhole ? [quick] : ['--project=!frameworks', '--project=!compat*'];
process.exitCode = spawnSync('vitest', ['run', ...projects, ...argv], { stdio: 'inherit' }).status ?? 1;
