/**
 * Returns whether an answer with this status rejects the token, if the API has no other rule: 401
 * (RFC 9110 section 15.5.2).
 */
export function rejectsToken(status: number): boolean {
  return status === 401;
}

/**
 * Returns whether an answer with this status, which does not reject the token, shows that the API
 * accepted it: 200 to 399.
 */
export function acceptsToken(status: number): boolean {
  return status >= 200 && status < 400;
}
