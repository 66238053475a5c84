import { createServiceAuthFromEnv, type ServiceAuth } from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';

let auth: ServiceAuth | undefined;
let api: typeof fetch | undefined;

/**
 * `next build` imports this module, often without the environment variables of production. So the client is created when it is first used.
 * Then one error names all variables that are missing.
 */
export function getAuth(): ServiceAuth {
  auth ??= createServiceAuthFromEnv(process.env);
  return auth;
}

/** A fetch that sends the token to the API. */
export const authFetch: typeof fetch = (input, init) => {
  api ??= createAuthFetch(getAuth());
  return api(input, init);
};
