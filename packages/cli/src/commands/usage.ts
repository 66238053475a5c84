import { setTimeout as pause } from 'node:timers/promises';
import { isServiceAuthError } from '@service-auth/core';
import { openReader, type Reader } from '../configuration/reader.ts';
import type { Context } from '../line/command.ts';
import { exitCodes, sentenceOf } from '../line/exit.ts';
import { styleOf } from '../line/style.ts';
import { usageScreen } from '../report/screen.ts';
import { clockTime, coloured, duration } from '../report/text.ts';
import type { Usage } from '../report/usage.ts';
import { usageJson } from '../report/usage-json.ts';

const everyMs = 2_000;

/** Shows the usage, once or until a signal ends it. */
export async function run(context: Context): Promise<number> {
  const reader = await openReader(context);
  if (context.flags['watch'] !== true) {
    const { usage, scene } = await reader.read();
    print(context, usage, () => usageScreen(usage, scene, styleOf(context)));
    return exitCodes.success;
  }
  await watch(context, reader);
  return exitCodes.success;
}

function print({ flags, stdout }: Context, usage: Usage, screen: () => readonly string[]): void {
  stdout.write(flags['json'] === true ? `${JSON.stringify(usageJson(usage))}\n` : `${screen().join('\n')}\n`);
}

/** Shows it again and again. A store that is lost leaves the last screen, with a line that says so. */
async function watch(context: Context, reader: Reader): Promise<void> {
  const { flags, stdout, stderr, signal } = context;
  const isDrawn = stdout.isTTY === true && flags['json'] !== true;
  let last: { readonly lines: readonly string[]; readonly at: number } | undefined;
  while (!signal.aborted) {
    try {
      const { usage, scene } = await reader.read();
      const lines = usageScreen(usage, scene, styleOf(context));
      last = { lines, at: Date.now() };
      if (isDrawn) draw(stdout, [...lines, '', footer(context)]);
      else print(context, usage, () => [...lines, '']);
    } catch (error) {
      if (!isServiceAuthError(error)) throw error;
      // The first screen has to succeed: a wrong address does not become right.
      if (!last) throw error;
      const age = duration(Date.now() - last.at);
      const lost = `${sentenceOf(error)} What you see is ${age} old.`;
      if (isDrawn) draw(stdout, [...last.lines, '', coloured(styleOf(context), 'red', lost)]);
      else stderr.write(`service-auth: ${lost}\n`);
    }
    await pause(everyMs, undefined, { signal }).catch(() => {});
  }
}

function footer(context: Context): string {
  const style = styleOf(context);
  return coloured(style, 'dim', `${clockTime(style.now, style.now)}, every 2 seconds. Ctrl-C ends it.`);
}

/** Writes over what stands there, line by line, so that nothing flickers. */
function draw(stdout: Context['stdout'], lines: readonly string[]): void {
  const endOfLine = '\u001B[K\n';
  stdout.write(`\u001B[H${lines.join(endOfLine)}${endOfLine}\u001B[J`);
}
