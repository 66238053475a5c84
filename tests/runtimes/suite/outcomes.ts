import { createServiceAuth, isServiceAuthError, type ServiceAuthOptions } from '@service-auth/core';

/** A failure as a program meets it: where, whether its connection was used before, and whether its client throws answers of 400 and more. */
export interface Task {
  readonly url: string;
  readonly reused?: boolean;
  readonly throws?: true;
}

/** The result of a program after a failure. */
export interface Measured {
  /** The number of tokens that the record counts afterwards. */
  readonly used: number;
  /** The result of the caller. */
  readonly result: string;
}

/** Meets one failure with a client of its own. `warm`: sends another request with the same HTTP client. */
export async function measure(
  { url, reused }: Task,
  warm: (url: string) => Promise<unknown>,
  transport?: ServiceAuthOptions['transport'],
): Promise<Measured> {
  if (reused) await warm(`${url}/`);
  const auth = createServiceAuth({
    authUrl: url,
    audience: 'orders',
    clientId: 'client',
    clientSecret: 'secret-0123456789',
    timeoutMs: 10_000,
    ...(transport && { transport }),
  });
  const result = await auth.getToken().then(
    () => 'token',
    (error: unknown) => (isServiceAuthError(error) ? `${error.code} ${error.message}` : `foreign: ${error}`),
  );
  const { used } = await auth.getUsage();
  await auth.close();
  return { used, result };
}
