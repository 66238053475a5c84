import { createInterface } from 'node:readline/promises';
import type { Context } from './command.ts';
import { UsageError } from './exit.ts';

/**
 * Asks before something is changed. `--yes` answers for the user.
 * @throws UsageError without a terminal and without `--yes`
 */
export async function confirmed(context: Context, consequences: string, question: string): Promise<boolean> {
  const { flags, stdin, stderr, signal } = context;
  if (flags['yes'] === true) return true;
  stderr.write(`${consequences}\n`);
  if (!stdin.isTTY) throw new UsageError(['there is no terminal to ask for a confirmation; add --yes']);
  const lines = createInterface({ input: stdin, output: stderr });
  try {
    const answer = await lines.question(`${question} [y/N] `, { signal });
    if (/^y(es)?$/i.test(answer.trim())) return true;
    stderr.write('Nothing was changed.\n');
    return false;
  } finally {
    lines.close();
  }
}
