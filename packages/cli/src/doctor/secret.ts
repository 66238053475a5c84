import type { StoreSnapshot } from '@service-auth/core';
import { type SecretInRecord, secretInRecord, shownNameOf } from '@service-auth/core/record';
import { type Environment, settingsOf } from '../configuration/environment.ts';
import { readOptions, requestedTokens } from '../configuration/reader.ts';
import { rejectionOf } from '../report/whose.ts';
import { type Diagnosis, failure, warning } from '../stores/diagnosis.ts';

/** Says what the record shows of this client secret, which is sent nowhere. */
export async function examineSecret(
  env: Environment,
  snapshot: StoreSnapshot | undefined,
): Promise<readonly Diagnosis[]> {
  const { record, now = 0 } = snapshot ?? {};
  const { SERVICE_AUTH_CLIENT_SECRET: clientSecret } = env;
  if (record === undefined || clientSecret === undefined) return [];
  const { clientId, storeKey, clientAuthentication } = readOptions(env);
  const owner = { clientId, clientSecret, clientAuthentication, storeKey };
  const found = requestedTokens(env).map(async (token) =>
    described(await secretInRecord(record, { ...owner, ...token }, now), shownNameOf(token), env),
  );
  return (await Promise.all(found)).flat();
}

function described({ rejection, opensToken }: SecretInRecord, token: string, env: Environment): readonly Diagnosis[] {
  const found: Diagnosis[] = [];
  if (rejection) {
    const at = rejection.failedAt === undefined ? '' : ` at ${new Date(rejection.failedAt).toISOString()}`;
    const answer = `${rejectionOf({ ...rejection, failedAt: undefined })}${at}`;
    found.push(
      rejection.about === 'client'
        ? failure(
            `the token endpoint rejected this client secret for ${token} (${answer})`,
            `compare it with ${settingsOf(env)}.`,
          )
        : failure(
            `the token endpoint refuses tokens for ${token} (${answer})`,
            'may this client have them? If it gets no others either, compare its id and secret.',
          ),
    );
  }
  if (opensToken === false) {
    const message = `this client secret cannot open the token in use for ${token}: another secret sealed it`;
    const advice = 'give all programs the same SERVICE_AUTH_CLIENT_SECRET, or the same SERVICE_AUTH_STORE_KEY.';
    found.push(warning(message, advice));
  }
  return found;
}
