import { emptyRecord } from '@service-auth/core/record';
import { openReader } from '../configuration/reader.ts';
import type { Context } from '../line/command.ts';
import { confirmed } from '../line/confirm.ts';
import { exitCodes, Failure } from '../line/exit.ts';

export async function run(context: Context): Promise<number> {
  const stored = await openReader(context, { writes: true });
  const { version, now } = await stored.load();
  if (version === undefined) throw new Failure(`${stored.label} has no record of this client`);
  const consequences = `This discards the record in ${stored.label}: which tokens were issued, and the token in use.
The provider still counts the tokens of the last 24 hours. An empty record starts with only a part of the limit, because it cannot know them.
Processes that run put back the newest tokens that they remember, within 30 seconds. To get rid of those too, stop the processes first.`;
  if (!(await confirmed(context, consequences, 'Discard the record?'))) return exitCodes.failure;
  if (!(await stored.swap(version, emptyRecord(now)))) {
    throw new Failure('the record changed meanwhile, so it was not discarded; try again');
  }
  context.stdout.write(`The record in ${stored.label} was replaced by an empty one.\n`);
  return exitCodes.success;
}
