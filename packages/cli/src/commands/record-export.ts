import { openRecord } from '../configuration/stored-record.ts';
import type { Context } from '../line/command.ts';
import { exitCodes, Failure } from '../line/exit.ts';

/** Prints the record as it is stored. */
export async function run(context: Context): Promise<number> {
  const stored = await openRecord(context, false);
  const { record } = await stored.load();
  if (record === undefined) throw new Failure(`${stored.label} has no record of this client`);
  context.stdout.write(`${record}\n`);
  return exitCodes.success;
}
