import type { AccessToken } from '@service-auth/core';

/** A token as JSON. The data source `external` of Terraform takes nothing else than texts. */
export function tokenJson({ value, authorization, expiresAt }: AccessToken, audience: string | undefined): object {
  return {
    accessToken: value,
    tokenType: typeOf(authorization),
    expiresAt: new Date(expiresAt).toISOString(),
    audience,
  };
}

/** The word before the token in the header of a request to the API. */
export function typeOf(authorization: string): string | undefined {
  return authorization.split(' ', 1)[0];
}
