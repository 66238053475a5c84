import type { Clock } from '@service-auth/core';
import type { TestClientAuthentication } from './client-authentication.ts';
import type { TestCredentials } from './client-registry.ts';
import type { TestIssuanceLimit } from './issuance-log.ts';

/** The options with which `createServiceAuth` uses the service. You may add further options. */
export interface TestClientOptions extends Omit<TestCredentials, 'clientSecret'> {
  /** Undefined with `clientAuthentication: 'private_key_jwt'`. */
  readonly clientSecret?: string;
  readonly authUrl: string;
  /**
   * The issuer, with `clientAuthentication`. Add what `@service-auth/core/oauth2` creates:
   * `{ ...service.options, clientAuthentication: clientSecretBasic() }`.
   */
  readonly issuer?: string;
  readonly baseUrl: string;
  /** The clock, if the service has one. */
  readonly clock?: Clock;
  /** The limit, if it is not the default. */
  readonly issuanceLimit?: TestIssuanceLimit;
}

/** What a client has to know of a service. */
interface Known {
  readonly url: string;
  readonly issuer: string;
  readonly credentials: TestCredentials;
  readonly privateKey: string;
  readonly clientAuthentication: TestClientAuthentication | undefined;
  readonly clock: Clock | undefined;
  readonly issuanceLimit: TestIssuanceLimit | undefined;
}

/**
 * Returns the settings of a client of the service, as options and as variables. Variables have no
 * clock.
 */
export function clientSettings({
  url,
  issuer,
  credentials,
  privateKey,
  clientAuthentication,
  clock,
  issuanceLimit,
}: Known): { options: TestClientOptions; env: Record<string, string> } {
  const { clientSecret, ...names } = credentials;
  const hasKey = clientAuthentication === 'private_key_jwt';
  return {
    options: {
      ...names,
      ...(!hasKey && { clientSecret }),
      ...(clientAuthentication && { issuer }),
      authUrl: url,
      baseUrl: url,
      ...(clock && { clock }),
      ...(issuanceLimit && { issuanceLimit }),
    },
    env: {
      SERVICE_AUTH_URL: url,
      SERVICE_BASE_URL: url,
      SERVICE_AUTH_AUDIENCE: names.audience,
      SERVICE_AUTH_CLIENT_ID: names.clientId,
      ...(hasKey ? { SERVICE_AUTH_PRIVATE_KEY: privateKey } : { SERVICE_AUTH_CLIENT_SECRET: clientSecret }),
      ...(clientAuthentication && {
        SERVICE_AUTH_ISSUER: issuer,
        SERVICE_AUTH_CLIENT_AUTHENTICATION: clientAuthentication,
      }),
      ...limitVariable(issuanceLimit),
    },
  };
}

function limitVariable({ tokens, windowMs, counts }: TestIssuanceLimit = {}): Record<string, string> {
  const number = `${tokens ?? 150}${counts === 'requests' ? ' requests' : ''}`;
  if (windowMs !== undefined) return { SERVICE_AUTH_TOKEN_LIMIT: `${number}/${windowMs / 1_000}s` };
  return tokens === undefined && counts !== 'requests' ? {} : { SERVICE_AUTH_TOKEN_LIMIT: number };
}
