import { openClient } from '../configuration/client.ts';
import type { Context } from '../line/command.ts';
import { confirmed } from '../line/confirm.ts';
import { exitCodes, Failure } from '../line/exit.ts';
import { printable } from '../line/printable.ts';
import { holdSentence } from '../report/sentences.ts';
import { instant } from '../report/text.ts';

export async function run(context: Context): Promise<number> {
  const { auth } = await openClient(context, { anyAudience: true });
  const { holds } = await auth.getUsage();
  const now = Date.now();
  if (holds.length === 0) {
    context.stdout.write('Nothing is on hold, so there is nothing to end.\n');
    return exitCodes.success;
  }
  const list = holds.map((hold) => `  ${printable(holdSentence(hold, now))}`).join('\n');
  const consequences = `On hold:\n${list}\nThis ends them for all programs. What fails again waits for as long as before. The limit is kept.`;
  if (!(await confirmed(context, consequences, 'Try again now?'))) return exitCodes.failure;

  const { ended, retryAt } = await auth.retryNow();
  await auth.close();
  if (ended.length === 0 && retryAt !== undefined) {
    throw new Failure(
      `this was done moments ago; it works again at ${instant(retryAt, Date.now())}`,
      exitCodes.tryLater,
    );
  }
  const after = 'The next program that needs a token asks for one.';
  const lines = ended.map((hold) => printable(`- ${holdSentence(hold, now)}`));
  context.stdout.write(`${[...(lines.length > 0 ? ['Ended:', ...lines] : []), after].join('\n')}\n`);
  return exitCodes.success;
}
