import type { AccessToken, ServiceAuth } from '@service-auth/core';
import { openClient } from '../configuration/client.ts';
import { type Context, textOf } from '../line/command.ts';
import { exitCodes, UsageError } from '../line/exit.ts';
import { durationMs } from '../line/units.ts';
import { duration } from '../report/text.ts';
import { formats, isFormat } from './token-formats.ts';

export async function run(context: Context): Promise<number> {
  const { flags, signal, stdout, stderr } = context;
  const format = textOf(flags, 'format') ?? 'raw';
  const minLife = textOf(flags, 'min-life');
  const minLifeMs = minLife === undefined ? 0 : durationMs(minLife);
  const problems = [
    ...(isFormat(format) ? [] : [`--format must be one of ${Object.keys(formats).join(', ')}`]),
    ...(minLifeMs === undefined ? ['--min-life must be a duration such as 90s, 10m or 2h'] : []),
  ];
  if (!isFormat(format) || minLifeMs === undefined) throw new UsageError(problems);

  const { auth, env } = await openClient(context);
  try {
    const token = await tokenWithLife(auth, minLifeMs, signal);
    const leftMs = token.expiresAt - Date.now();
    if (leftMs < minLifeMs) {
      const life = duration(leftMs);
      stderr.write(
        `service-auth: warning: the token lives for ${life} only, and no longer-lived one is available now. See service-auth explain.\n`,
      );
    }
    stdout.write(`${formats[format](token, env)}\n`);
    return exitCodes.success;
  } finally {
    // After Ctrl-C a request that is under way has two seconds to end, so that its token is not
    // lost.
    await auth.close();
  }
}

/** A token that was issued early is not renewed early again: else each call could cost one. */
async function tokenWithLife(auth: ServiceAuth, minLifeMs: number, signal: AbortSignal): Promise<AccessToken> {
  const token = await auth.getToken({ signal });
  if (token.expiresAt - Date.now() >= minLifeMs) return token;
  const { issuances } = await auth.getUsage();
  const own = issuances.find(({ id }) => id === token.id);
  const before = issuances.find(
    ({ at, audience, id }) => own && id !== own.id && audience === own.audience && at <= own.at,
  );
  const halfLifeMs = (token.expiresAt - token.issuedAt) / 2;
  const wasEarly = own && before && own.at - before.at < halfLifeMs && Date.now() - own.at < halfLifeMs;
  return wasEarly ? token : auth.getToken({ signal, minLifeMs });
}
