import { text } from 'node:stream/consumers';
import { incompleteRecord, isEmptyRecord, problemOfRecord, secretInRecord } from '@service-auth/core/record';
import { contentOf, type Environment } from '../configuration/environment.ts';
import { openReader, readOptions } from '../configuration/reader.ts';
import type { Context } from '../line/command.ts';
import { exitCodes, Failure, UsageError } from '../line/exit.ts';
import { printable } from '../line/printable.ts';
import { availability } from '../report/availability.ts';
import { heldBack } from '../report/sentences.ts';
import { joined } from '../report/whose.ts';

export async function run(context: Context): Promise<number> {
  const [file = ''] = context.operands;
  const others: string[] = [];
  const content = file === '-' ? await text(context.stdin) : await contentOf(file, 'FILE', others);
  const stored = await openReader(context, { writes: true, others });
  const record = (content ?? '').trimEnd();
  const problem = problemOfRecord(record);
  if (record.startsWith('{'))
    throw new UsageError(['FILE is an output of record export --json; export without --json']);
  if (problem === 'damaged') throw new UsageError(['FILE is not a complete output of record export']);
  const advice = 'if that is newer, update this program';
  if (problem) throw new UsageError([`FILE was written by another version of Service Auth; ${advice}`]);
  const isComplete = context.flags['complete'] === true;
  const isKnown = await knowsSecret(record, stored.env);
  if (isComplete && isKnown === false) throw new UsageError([foreign]);
  const { version, record: present, now } = await stored.load();
  const isFree = present === undefined || isEmptyRecord(present);
  if (!isFree || !(await stored.swap(version, isComplete ? record : incompleteRecord(record, now)))) {
    throw new Failure(`${stored.label} has a record of this client already; nothing was changed`);
  }
  const { usage, scene } = await stored.read();
  const held = heldBack(usage, Date.now());
  const sentences = [
    `The record was written to ${stored.label}.`,
    ...(isKnown === undefined ? ['It does not say whose it is: see that FILE is of this client.'] : []),
    ...(isComplete
      ? []
      : ['The copy does not know what was issued later. If you do, say so with service-auth record spent.']),
    availability(usage, scene.failures, Date.now()),
    ...(held.length === 0 ? [] : [`The rest: ${joined(held)}.`]),
  ];
  context.stdout.write(`${printable(sentences.join(' '))}\n`);
  return exitCodes.success;
}

const foreign =
  'FILE is of another client, or of another secret: the client secret of the environment has used no part of it. If it is of this client, leave SERVICE_AUTH_CLIENT_SECRET away';

/** A record names its client by the key of its tokens alone. Undefined: nobody can tell. */
async function knowsSecret(record: string, env: Environment): Promise<boolean | undefined> {
  const { SERVICE_AUTH_CLIENT_SECRET: clientSecret } = env;
  if (clientSecret === undefined) return undefined;
  const { clientId, storeKey } = readOptions(env);
  return (await secretInRecord(record, { clientId, clientSecret, audience: '', storeKey }, 0)).isKnown;
}
