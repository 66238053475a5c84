import { createServiceAuthFromEnv } from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';
import * as env from '$app/env/private';

let api: typeof fetch | undefined;

/**
 * A fetch that sends the token to the API. `vite build` imports this module without the environment variables of production, so the client is
 * created when it is first used.
 */
export const authFetch: typeof fetch = (input, init) => {
  api ??= createAuthFetch(createServiceAuthFromEnv(env));
  return api(input, init);
};
