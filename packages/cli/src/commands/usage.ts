import { setTimeout as pause } from 'node:timers/promises';
import { isServiceAuthError } from '@service-auth/core';
import { openReader, type Reader } from '../configuration/reader.ts';
import { openCanvas } from '../line/canvas.ts';
import type { Context } from '../line/command.ts';
import { exitCodes, sentenceOf } from '../line/exit.ts';
import { printable, printableJson } from '../line/printable.ts';
import { styleOf } from '../line/style.ts';
import { wrapped } from '../line/wrapped.ts';
import { type Scene, usageScreen } from '../report/screen.ts';
import { clockTime, coloured, duration } from '../report/text.ts';
import type { Usage } from '../report/usage.ts';
import { usageJson } from '../report/usage-json.ts';

const everyMs = 2_000;

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
  stdout.write(flags['json'] === true ? `${printableJson(usageJson(usage))}\n` : `${screen().join('\n')}\n`);
}

/** Shows it again and again. While the store is lost, the last screen stays, and says so. */
async function watch(context: Context, reader: Reader): Promise<void> {
  const { flags, stdout, stderr, signal } = context;
  const draw = stdout.isTTY === true && flags['json'] !== true ? openCanvas(stdout) : undefined;
  let last: { readonly usage: Usage; readonly scene: Scene; readonly at: number } | undefined;
  while (!signal.aborted) {
    try {
      const { usage, scene } = await reader.read();
      last = { usage, scene, at: Date.now() };
      const lines = usageScreen(usage, scene, styleOf(context));
      if (draw) draw(lines, footer(context));
      else print(context, usage, () => [...lines, '']);
    } catch (error) {
      if (!isServiceAuthError(error)) throw error;
      // The first screen has to succeed: a wrong address does not become right.
      if (!last) throw error;
      const lost = `What you see is ${duration(Date.now() - last.at)} old. ${sentenceOf(error)}`;
      const style = styleOf(context);
      if (draw)
        draw(usageScreen(last.usage, last.scene, style), coloured(style, 'red', wrapped(lost, style.columns)[0] ?? ''));
      else stderr.write(`service-auth: ${printable(lost)}\n`);
    }
    await nextTime(context);
  }
}

/** Waits for two seconds, or until the terminal gets another size. */
async function nextTime({ stdout, signal }: Context): Promise<void> {
  const over = new AbortController();
  const resized = () => over.abort();
  stdout.once('resize', resized);
  await pause(everyMs, undefined, { signal: AbortSignal.any([signal, over.signal]) }).catch(() => {});
  stdout.off('resize', resized);
}

function footer(context: Context): string {
  const style = styleOf(context);
  return coloured(style, 'dim', `${clockTime(style.now, style.now)}, every 2 seconds. Ctrl-C ends it.`);
}
