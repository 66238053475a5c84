import type { Usage } from '@service-auth/core';
import { problemOfRecord, recordWithSpent } from '@service-auth/core/record';
import { checked, instanceOf } from '../configuration/client.ts';
import { openReader, statedLimit } from '../configuration/reader.ts';
import { type Context, textOf } from '../line/command.ts';
import { exitCodes, Failure, UsageError } from '../line/exit.ts';
import { printable } from '../line/printable.ts';
import { availability } from '../report/availability.ts';
import { spentElsewhereSentence } from '../report/sentences.ts';

/** Programs may write at the same moment. */
const maxTries = 10;

/** Writes how many tokens the record has not seen. It is no longer treated as a new one. */
export async function run(context: Context): Promise<number> {
  const [number = ''] = context.operands;
  const { reason, problems } = given(context, number);
  const stored = await openReader(context, { writes: true, others: problems });
  const { env, store, label } = stored;
  const issuanceLimit = statedLimit(env);
  for (let tries = 0; tries < maxTries; tries++) {
    const { version, record, now } = await stored.load();
    if (record !== undefined && problemOfRecord(record))
      throw new Failure(`the record in ${label} is damaged, or of another version`, exitCodes.store);
    const told = { count: Number(number), instance: instanceOf(env), reason, now, issuanceLimit };
    const next = await checked(() => recordWithSpent(record, told, store), problems);
    if (problems.length > 0) throw new UsageError(problems);
    if (next !== undefined && !(await stored.swap(version, next))) continue;
    const { usage, scene } = await stored.read();
    if (next === undefined) throw new Failure(`${known(usage)} Nothing was changed.`);
    const sentences = [spentElsewhereSentence(usage, Date.now()), availability(usage, scene.failures, Date.now())];
    context.stdout.write(`${printable(sentences.join(' '))}\n`);
    return exitCodes.success;
  }
  throw new Failure('other programs kept changing the record, so nothing was written; try again');
}

function given({ flags }: Context, number: string): { readonly reason: string; readonly problems: string[] } {
  const reason = textOf(flags, 'reason') ?? '';
  const problems = [
    ...(/^\d{1,7}$/.test(number) ? [] : ['N must be a number of tokens, such as 0 or 40']),
    ...(reason === '' ? ["--reason is missing: say how you know, such as 'the provider counted them'"] : []),
  ];
  return { reason, problems };
}

function known(usage: Usage): string {
  return usage.spentElsewhere === undefined
    ? 'The record knows all tokens of the last window already.'
    : `The record knows of more. ${spentElsewhereSentence(usage, Date.now())}`;
}
