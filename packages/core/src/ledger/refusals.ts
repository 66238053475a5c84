import { chargeOf, isIssued, type Settled } from './attempt.ts';
import type { Attempt, LedgerRecord, Outcome } from './journal.ts';
import { spacingAfter } from './spacing.ts';
import { isAfter } from './streaks.ts';

const minute = 60_000;

/** An attempt that the endpoint refused without saying that it may accept it later. */
export type Refused = Attempt & { readonly outcome: Outcome & { readonly holdUntil: number } };

function isRefused(attempt: Attempt): attempt is Refused {
  return attempt.outcome?.kind === 'refused' && attempt.outcome.holdUntil !== undefined;
}

/** Returns the newest refusal of each audience and secret that no token followed. */
export function refusalsOf({ attempts }: LedgerRecord): readonly Refused[] {
  const newest = new Map<string, Refused>();
  for (const attempt of attempts) {
    if (!isRefused(attempt)) continue;
    const name = JSON.stringify([attempt.audience, attempt.secretId]);
    if (attempt.outcome.at >= (newest.get(name)?.outcome.at ?? 0)) newest.set(name, attempt);
  }
  // A record may have thousands of refused attempts, and few tokens.
  const issued = attempts.filter(isIssued);
  return [...newest.values()].filter((refused) => !issued.some((attempt) => ends(attempt, refused)));
}

/** Returns whether a token of this attempt shows that a refusal is over. */
function ends(attempt: Settled, { audience, secretId, generation, outcome }: Refused): boolean {
  const isAbout = attempt.audience === audience || isAboutClient(outcome);
  const helps = attempt.secretId === secretId || !isOfCredentials(outcome);
  return isAbout && helps && isAfter({ ...attempt, ...attempt.outcome }, { generation, at: outcome.at });
}

/** What the token endpoint answered to a request that it refused. `code`: the `error` of an authorization server. */
export type Answered = Pick<Outcome, 'status' | 'code'>;

/** Returns whether an authorization server answered so. Without the JSON of one (RFC 6749 section 5.2), 400 and 403 come from something in front of it. */
export function isOfCredentials({ status = 0, code }: Answered): boolean {
  return (
    status === 401 || (code !== undefined && ((status >= 200 && status < 300) || status === 400 || status === 403))
  );
}

/** Returns whether a refusal is about the client, and so about every token of it. If not, it is about this token. */
export function isAboutClient({ status, code }: Answered): boolean {
  return status === 401 || code === 'invalid_client' || code === 'unauthorized_client';
}

/** Rule 4 of `pace`: how long a refusal holds. Those in a row hold for 5, 10 and then 15 minutes. */
export function heldAfterRefusal(
  record: LedgerRecord,
  attempt: Attempt,
  failedAt: number,
  answered: Answered,
): { readonly count: number; readonly holdUntil: number } {
  const [before] = refusalsOf(record)
    .filter(
      ({ id, audience, secretId, outcome }) =>
        id !== attempt.id &&
        secretId === attempt.secretId &&
        (audience === attempt.audience || (isAboutClient(answered) && isAboutClient(outcome))),
    )
    .map(({ outcome }) => outcome)
    .sort((one, other) => other.at - one.at);
  const isInRow = before !== undefined && failedAt <= before.holdUntil + 60 * minute;
  const count = isInRow ? (before.count ?? 1) + 1 : 1;
  return {
    count,
    holdUntil: failedAt + Math.min(15 * minute, 5 * minute * 2 ** (count - 1)),
  };
}

/** Returns the renewals in a row that 401s caused for an audience, the last of them, and when the next one may follow. */
export function rejectionsOf(
  { attempts }: LedgerRecord,
  audience: string,
): { readonly count: number; readonly until: number; readonly last: Attempt | undefined } {
  const renewals = attempts.filter((attempt) => {
    return attempt.reason === 'rejected' && attempt.audience === audience && chargeOf(attempt) > 0;
  });
  return { ...spacingAfter(renewals.map(({ at }) => at)), last: renewals.at(-1) };
}
