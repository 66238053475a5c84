import type { AccessToken } from '@service-auth/core';
import { openClient } from '../configuration/client.ts';
import { type Context, textOf } from '../line/command.ts';
import { exitCodes, UsageError } from '../line/exit.ts';
import { formats, isFormat } from './token-formats.ts';

/** Prints an access token in one of the formats. */
export async function run(context: Context): Promise<number> {
  const { flags, signal, stdout } = context;
  const format = textOf(flags, 'format') ?? 'raw';
  if (!isFormat(format)) throw new UsageError([`--format must be one of ${Object.keys(formats).join(', ')}`]);
  const { auth, env } = await openClient(context);
  const token = await tokenOf(() => auth.getToken({ signal }), auth, signal);
  stdout.write(`${formats[format](token, env)}\n`);
  await auth.close();
  return exitCodes.success;
}

/** Gets the token. After Ctrl-C a request that is under way has two seconds to end, so that its token is not lost. */
async function tokenOf(
  get: () => Promise<AccessToken>,
  auth: { close(): Promise<void> },
  signal: AbortSignal,
): Promise<AccessToken> {
  try {
    return await get();
  } catch (error) {
    if (signal.aborted) await auth.close();
    throw error;
  }
}
