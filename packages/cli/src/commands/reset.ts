import { shownNameOf } from '@service-auth/core/record';
import { openClient } from '../configuration/client.ts';
import { requestedTokens } from '../configuration/reader.ts';
import { type Context, textOf } from '../line/command.ts';
import { confirmed } from '../line/confirm.ts';
import { exitCodes, Failure } from '../line/exit.ts';
import { printable } from '../line/printable.ts';
import { instant } from '../report/text.ts';

export async function run(context: Context): Promise<number> {
  const { auth, env } = await openClient(context);
  // A client has one audience or none.
  const [requested = {}] = requestedTokens(env);
  const audience = shownNameOf(requested);
  const { tokens, issuances } = await auth.getUsage();
  const known = [...new Set([...tokens, ...issuances].map((part) => part.audience))];
  if (!known.includes(audience)) {
    const there = known.length === 0 ? 'The record has none' : printable(`The record has: ${known.join(', ')}`);
    throw new Failure(`there is no token of the audience ${audience}. ${there}`);
  }
  const consequences = `This ends the token of ${audience} for all programs that share the store, within 30 seconds. Another one costs a token of the limit.
The API accepts the old one until it expires, unless the provider revokes it.`;
  if (!(await confirmed(context, consequences, 'Reset the token?'))) return exitCodes.failure;

  const reason = textOf(context.flags, 'reason');
  const { tokenId, retryAt } = await auth.reset(reason === undefined ? {} : { reason });
  await auth.close();
  if (tokenId === undefined) throw new Failure(`no token of ${audience} was in use, so there was nothing to reset`);
  const now = Date.now();
  const next =
    retryAt === undefined
      ? 'Another one can be issued now.'
      : `Another one can be issued from ${instant(retryAt, now)} on.`;
  // Programs with another secret have a token of their own, which was reset, too.
  const others = tokens.filter((token) => token.audience === audience && token.id !== tokenId).length;
  const done =
    others === 0
      ? `Token ${tokenId} of ${audience} was reset. Within 30 seconds no process uses it any more. ${next}`
      : `All ${others + 1} tokens of ${audience} were reset, ${tokenId} and ${others} of other secrets. Within 30 seconds no process uses them any more. ${next}`;
  context.stdout.write(`${printable(done)}\n`);
  return exitCodes.success;
}
