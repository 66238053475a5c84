import type { CredentialsBackoff, LedgerRecord } from './record.ts';

/** What the token endpoint answered to a request that it refused. */
export type Answered = Pick<CredentialsBackoff, 'status' | 'oauthError'>;

/** Returns whether an authorization server answered so. Without the JSON of one (RFC 6749 section 5.2), 400 and 403 come from something in front of it. */
export function isOfCredentials({ status, oauthError }: Answered): boolean {
  return (
    status === 401 ||
    (oauthError !== undefined && ((status >= 200 && status < 300) || status === 400 || status === 403))
  );
}

/** Returns whether a refusal is about the client, and so about every token of it. If not, it is about this token. */
export function isAboutClient({ status, oauthError }: Answered): boolean {
  return status === 401 || oauthError === 'invalid_client' || oauthError === 'unauthorized_client';
}

/** Returns the refusals of a client, whatever token was asked for. `secretId`: its credential. */
export function clientRefusalsOf({ audiences }: LedgerRecord, secretId: string): readonly CredentialsBackoff[] {
  return audiences.flatMap(({ credentialsBackoff: refusal }) =>
    refusal && refusal.secretId === secretId && isAboutClient(refusal) ? [refusal] : [],
  );
}
