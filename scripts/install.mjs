// Runs before every script of the root, so that a fresh clone needs no step of its own. Plain JavaScript without
// dependencies: nothing is installed yet, and the machine's Node may be too old for anything else.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const script = process.env.npm_lifecycle_event?.replace(/^pre/, '');
if (process.env.npm_config_user_agent?.startsWith('npm/')) {
  stop(`This repository is a workspace of pnpm. Run this instead: npx --yes pnpm@12 ${script}`);
}

const root = fileURLToPath(new URL('..', import.meta.url));
const pnpm = process.env.npm_execpath?.includes('pnpm') ? process.env.npm_execpath : 'pnpm';

const first = !existsSync(new URL('../node_modules/.modules.yaml', import.meta.url));
if (first) console.log('Installing the dependencies, once. This takes a few minutes.');

// Of what pnpm prints, the first install shows its progress: its advice is for the people who maintain the dependencies. Afterwards it takes
// a fraction of a second and has nothing to say. A failure shows everything.
const install = spawn(pnpm, ['install', '--frozen-lockfile', '--reporter=append-only'], { cwd: root });
let printed = '';
for (const stream of [install.stdout, install.stderr]) {
  stream.setEncoding('utf8');
  stream.on('data', (text) => {
    printed += text;
    if (first) showProgress(text);
  });
}
const status = await new Promise((resolve) => install.on('error', resolve).on('close', resolve));
if (first && process.stdout.isTTY) process.stdout.write('\n');
if (status !== 0) {
  process.stderr.write(`${printed}${status instanceof Error ? status : ''}\n`);
  stop('The dependencies could not be installed, so nothing was run. The reason is above.');
}

const installedNode = existsSync(new URL('../node_modules/.bin/node', import.meta.url));
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (!installedNode && (major < 22 || (major === 22 && minor < 18))) {
  stop(
    `No Node could be installed for ${process.platform}-${process.arch}, and this one is ${process.version}: 22.18 or newer is needed.`,
  );
}

function showProgress(text) {
  const line = text.match(/^Progress: .*/gm)?.pop();
  if (line) process.stdout.write(process.stdout.isTTY ? `\r\x1b[2K${line}` : `${line}\n`);
}

function stop(sentence) {
  process.stderr.write(`\n${sentence}\n`);
  process.exit(1);
}
