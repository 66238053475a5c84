// A script that cron starts every few minutes. Each start is a new process, and the file store keeps the token between them:
//
//   */5 * * * * cd /srv/orders && node --env-file=.env cron.js
//
//   npx --yes pnpm@12 example examples/run-recipe.ts cron
import { createServiceAuthFromEnv, isServiceAuthError } from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';
import { fileStore } from '@service-auth/file';

const auth = createServiceAuthFromEnv(process.env, { store: fileStore() });
const authFetch = createAuthFetch(auth);

try {
  const response = await authFetch(`${process.env['SERVICE_BASE_URL']}/api/v1/orders`);
  if (!response.ok) throw new Error(`The API answered ${response.status}`);
  console.log(await response.json());
} catch (error) {
  if (!isServiceAuthError(error)) throw error;
  // cron mails this line. The exit code of a temporary failure is 75 (EX_TEMPFAIL).
  console.error(error.message);
  process.exitCode = 75;
}
