import { openRecord } from '../configuration/stored-record.ts';
import type { Context } from '../line/command.ts';
import { exitCodes, Failure } from '../line/exit.ts';
import { printable } from '../line/printable.ts';

/** Prints the record as it is stored. */
export async function run(context: Context): Promise<number> {
  const stored = await openRecord(context, false);
  const { record } = await stored.load();
  if (record === undefined) throw new Failure(`${stored.label} has no record of this client`);
  // A terminal would obey the control characters of a record that is damaged.
  context.stdout.write(`${context.stdout.isTTY ? printable(record) : record}\n`);
  return exitCodes.success;
}
