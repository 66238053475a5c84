// One process of a fleet, as fleet.ts and the demo start it: sends requests to the API, and says what became of them.
import { setTimeout as delay } from 'node:timers/promises';
import { type AccessToken, createServiceAuthFromEnv, isServiceAuthError } from '@service-auth/core';
import { storeFromEnv } from './store-from-env.ts';

/** The messages of a process. */
export type MemberMessage =
  | { readonly type: 'token_issued' | 'token_adopted'; readonly tokenId: string }
  | { readonly type: 'answered'; readonly status: number };

const say = (message: MemberMessage) => process.send?.(message);
const requests = Number(process.argv[2] ?? Number.POSITIVE_INFINITY);

const opened = await storeFromEnv(process.env);
const auth = createServiceAuthFromEnv(process.env, {
  store: opened.store,
  instance: process.env['INSTANCE'],
  onEvent(event) {
    if (event.type !== 'token_issued' && event.type !== 'token_adopted') return;
    say({ type: event.type, tokenId: event.tokenId });
  },
});

/** A caller without a token is told when to ask again, even if the machine is so busy that the store does not answer in time. */
async function getToken(): Promise<AccessToken> {
  try {
    return await auth.getToken();
  } catch (error) {
    if (!isServiceAuthError(error) || error.retryAt === undefined) throw error;
    await delay(error.retryAt - Date.now());
    return getToken();
  }
}

process.once('disconnect', () => process.exit());
for (let sent = 0; sent < requests; sent += 1) {
  const { authorization } = await getToken();
  const { status } = await fetch(`${process.env['SERVICE_BASE_URL']}/api/v1/orders`, { headers: { authorization } });
  say({ type: 'answered', status });
}
await auth.close();
await opened.close();
process.disconnect?.();
