import { type Environment, hasClientAuthentication, hasOtherCredential } from '../configuration/environment.ts';
import { allowance } from '../report/availability.ts';
import { countedBy } from '../report/text.ts';
import type { Usage } from '../report/usage.ts';
import { type Diagnosis, failure, ok, warning } from '../stores/diagnosis.ts';

/** Mistakes that make a configuration wrong although each value alone is allowed. */
export function examineSettings(env: Environment): readonly Diagnosis[] {
  const { SERVICE_AUTH_STORE: store, SERVICE_AUTH_CLIENT_SECRET: secret } = env;
  const found: Diagnosis[] = [];
  if (secret === undefined && !hasOtherCredential(env)) {
    found.push(ok('there is no client secret: usage, check, explain and doctor work, token does not'));
  }
  if (hasOtherCredential(env) && !env['SERVICE_AUTH_STORE_KEY']) {
    const message = 'SERVICE_AUTH_STORE_KEY is not set: without a client secret, it encrypts the tokens in the store';
    found.push(failure(message, 'give all programs the same one, such as that of openssl rand -base64 32.'));
  }
  const needsAudience = env['SERVICE_AUTH_TOKEN_ENDPOINT'] === undefined && !hasClientAuthentication(env);
  if (needsAudience && env['SERVICE_AUTH_AUDIENCE'] === undefined) {
    found.push(warning('SERVICE_AUTH_AUDIENCE is not set', 'set it to ask for tokens.'));
  }
  if (store === undefined) {
    const message = 'SERVICE_AUTH_STORE is not set, so the store is a directory of this user';
    found.push(warning(message, 'set it, if other programs use another store.'));
  }
  return found;
}

/** A new record allows less than the limit, which surprises those who look at the limit alone. */
export function examineNewRecord(usage: Usage, now: number): readonly Diagnosis[] {
  const { newRecord } = usage;
  if (!newRecord) return [];
  const message = `the record is new, so it allows only ${allowance(usage, now)}; ${newRecord.remaining} of them are left`;
  if (newRecord.remaining * 3 > newRecord.allowed) return [ok(message)];
  const advice = 'if you know how many it has not seen, say so: service-auth record spent N --reason TEXT.';
  return [warning(message, advice)];
}

/** A window of seconds where milliseconds were meant, as other programs state it in the record. */
export function examineWindows(
  windows: readonly Pick<Usage['windows'][number], 'tokens' | 'windowMs' | 'counts'>[],
): readonly Diagnosis[] {
  return windows
    .filter(({ tokens, windowMs }) => tokens >= 20 && windowMs <= 700_000)
    .map(({ tokens, windowMs, counts }) =>
      warning(
        `a program states ${tokens} ${countedBy({ counts })}s in a window of ${windowMs} ms`,
        'were these meant as seconds? windowMs is in milliseconds: a day has 86400000.',
      ),
    );
}
