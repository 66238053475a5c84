/**
 * Creates the reason of a 401 to a request that had an `Authorization` of its own. An adapter whose client throws an error for a 401 sets it as the
 * `cause` of that error. It is no ServiceAuthError, because waiting does not help.
 */
export function tokenBypassed(): Error {
  return new Error(
    '[service-auth] The request had an Authorization of its own, so it was sent without the token. ' +
      'Remove the interceptor or default header that sets it.',
  );
}
