import { once } from 'node:events';
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
  stderr.write(`${question} [y/N] `);
  // The terminal edits the line. Ctrl-D ends the input without an answer.
  const [answer = ''] = await Promise.race([once(stdin, 'data', { signal }), once(stdin, 'end', { signal })]);
  if (/^y(es)?$/i.test(String(answer).trim())) return true;
  stderr.write('Nothing was changed.\n');
  return false;
}
