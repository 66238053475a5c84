import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { incompleteRecord, isEmptyRecord, openRecord, problemOfRecord } from '../configuration/stored-record.ts';
import type { Context } from '../line/command.ts';
import { exitCodes, Failure, UsageError } from '../line/exit.ts';

/** Writes an exported record into a store that has none. */
export async function run(context: Context): Promise<number> {
  const [file = ''] = context.operands;
  const stored = await openRecord(context, true);
  const record = (file === '-' ? await text(context.stdin) : await contentOf(file)).trimEnd();
  const problem = problemOfRecord(record);
  if (problem === 'damaged') throw new UsageError(['FILE is not what record export printed, or not all of it']);
  const advice = 'if that is newer, update this program';
  if (problem) throw new UsageError([`FILE was written by another version of Service Auth; ${advice}`]);
  const isComplete = context.flags['complete'] === true;
  const { version, record: present, now } = await stored.load();
  const isFree = present === undefined || isEmptyRecord(present);
  if (!isFree || !(await stored.swap(version, isComplete ? record : incompleteRecord(record, now)))) {
    throw new Failure(`${stored.label} has a record of this client already; nothing was changed`);
  }
  const allowed = isComplete
    ? ''
    : ' Nobody knows what was issued after the copy was made, so for about a day only a part of the limit is allowed, unless service-auth record spent says how many.';
  context.stdout.write(`The record was written to ${stored.label}.${allowed}\n`);
  return exitCodes.success;
}

async function contentOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new UsageError([`FILE cannot be read: ${file} (${(error as NodeJS.ErrnoException).code})`]);
  }
}
