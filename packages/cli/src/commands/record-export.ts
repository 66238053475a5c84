import { openReader } from '../configuration/reader.ts';
import type { Context } from '../line/command.ts';
import { exitCodes, Failure } from '../line/exit.ts';
import { printable, printableLines } from '../line/printable.ts';

export async function run(context: Context): Promise<number> {
  const stored = await openReader(context);
  const { record } = await stored.load();
  if (record === undefined) throw new Failure(`${stored.label} has no record of this client`);
  if (context.flags['json'] === true) {
    context.stdout.write(`${printableLines(jsonOf(record))}\n`);
    return exitCodes.success;
  }
  // A terminal would obey the control characters of a record that is damaged.
  context.stdout.write(`${context.stdout.isTTY ? printable(record) : record}\n`);
  return exitCodes.success;
}

/** The JSON of a record in lines, whatever its version: whoever looks for a fault wants it. */
function jsonOf(record: string): string {
  try {
    return JSON.stringify(JSON.parse(record.replace(/^[^{]*/, '')), null, 2);
  } catch {
    throw new Failure('the record is no JSON; without --json it is printed as it is');
  }
}
