/** What the token endpoint answered to a request that it refused. `code`: the `error` of an authorization server. */
export interface Answered {
  readonly status?: number | undefined;
  readonly code?: string | undefined;
}

/**
 * Returns whether an authorization server refused the credentials. Without the JSON of one (RFC 6749
 * section 5.2), 400 and 403 come from something in front of it.
 */
export function isOfCredentials({ status = 0, code }: Answered): boolean {
  return (
    status === 401 || (code !== undefined && ((status >= 200 && status < 300) || status === 400 || status === 403))
  );
}

/** Returns whether a refusal is about the client, and so about every token of it. If not, it is about one token. */
export function isAboutClient({ status, code }: Answered): boolean {
  return status === 401 || code === 'invalid_client' || code === 'unauthorized_client';
}
