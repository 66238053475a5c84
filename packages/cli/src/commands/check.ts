import { settingsOf } from '../configuration/environment.ts';
import { absenceIn, openReader } from '../configuration/reader.ts';
import { concernsOf } from '../explain/concerns.ts';
import { type Context, textOf } from '../line/command.ts';
import { UsageError } from '../line/exit.ts';
import { checkLine } from '../report/check-line.ts';

/** Prints one line for monitoring, as a plug-in of Nagios does. Its exit code is the state. */
export async function run(context: Context): Promise<number> {
  const { flags, stdout } = context;
  const warn = percentOf(textOf(flags, 'warn') ?? '80%');
  const crit = percentOf(textOf(flags, 'crit') ?? '95%');
  if (warn === undefined || crit === undefined || warn > crit) {
    throw new UsageError(['--warn and --crit must be percentages from 0% to 100%, and --warn not above --crit']);
  }
  const reader = await openReader(context);
  const { usage, scene } = await reader.read();
  const now = Date.now();
  const absent = scene.hasRecord ? undefined : absenceIn(reader.env, scene);
  const concerns = concernsOf(usage, scene.failures, now, settingsOf(reader.env));
  const { line, code } = checkLine(usage, concerns, { warn, crit }, now, absent);
  stdout.write(`${line}\n`);
  return code;
}

function percentOf(text: string): number | undefined {
  const { number } = /^(?<number>\d{1,3}(\.\d+)?)%?$/.exec(text)?.groups ?? {};
  return number === undefined || Number(number) > 100 ? undefined : Number(number);
}
