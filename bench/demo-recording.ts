// Records `pnpm demo` in a terminal of 92 columns, for docs/start: `node bench/demo-recording.ts`. It needs `script` of util-linux.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { columns, scriptOf, terminalEnv, writePictures } from './harness/terminal-svg.ts';

// A reader need not wait longer for the next line than this.
const longestPause = 1.5;

const demo = fileURLToPath(new URL('../examples/demo/index.ts', import.meta.url));
const argv = scriptOf(`'${process.execPath}' --conditions=@service-auth/source '${demo}'`);
const program = spawn('script', argv, { env: terminalEnv, stdio: ['ignore', 'pipe', 'inherit'] });

const lines: string[] = [];
const seconds: number[] = [];
let open = '';
let shownAt = 0;
let lastAt: number | undefined;
program.stdout.setEncoding('utf8').on('data', (text: string) => {
  const now = Date.now() / 1_000;
  lastAt ??= now;
  const parts = (open + text).replaceAll('\r\n', '\n').split('\n');
  open = parts.pop() ?? '';
  for (const part of parts) {
    // The demo takes its last line away before it prints another one.
    const folded = foldedLines(part.split('\r\u001B[2K').at(-1) ?? '');
    lines.push(...folded);
    shownAt += Math.min(longestPause, now - lastAt);
    lastAt = now;
    seconds.push(...folded.map(() => shownAt));
  }
});
const [code] = await once(program, 'close');
if (code !== 0) throw new Error(`The demo ended with ${code}.`);

writePictures('demo', 'npx --yes pnpm@12 demo', lines.join('\n'), seconds);
process.stdout.write(`${lines.length} lines in ${seconds.at(-1)?.toFixed(1)} seconds\n`);

/** Breaks a line that is longer than the terminal between words. */
function foldedLines(printed: string): string[] {
  const plain = stripVTControlCharacters(printed);
  if (plain.length <= columns) return [printed];
  const folded = [''];
  for (const word of printed.split(' ')) {
    const longer = `${folded.at(-1)} ${word}`;
    if (stripVTControlCharacters(longer).length > columns) folded.push(`     ${word}`);
    else folded[folded.length - 1] = folded.at(-1) === '' && folded.length === 1 && word === '' ? ' ' : longer;
  }
  return folded.map((each, index) => (index === 0 ? each.replace(/^ /, '') : each));
}
