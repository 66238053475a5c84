import type { AccessToken } from '../access-token.ts';
import type { TokenSource } from '../token-source.ts';

/** Options of {@link replaceRejected}. */
export interface ReplaceRejectedOptions {
  /** Ends the wait for another token. */
  readonly signal?: AbortSignal | undefined;
  /** Whether the request can be sent again. If not, no other token is requested. Default true. */
  readonly canResend?: boolean | undefined;
}

/**
 * Reports that `token` was rejected, and resolves with another token for a second attempt. Resolves with undefined if the 401 is the answer for the
 * caller: the request cannot be sent again, or `auth` has no other token now. Use it in a client that sends its requests itself, and call it
 * with `canResend: false` after the 401 of the second attempt.
 * @throws the errors of `auth.getToken()`. The client must free the connection of the 401 then
 */
export async function replaceRejected(
  auth: Pick<TokenSource, 'getToken' | 'invalidate'>,
  token: AccessToken,
  { signal, canResend = true }: ReplaceRejectedOptions = {},
): Promise<AccessToken | undefined> {
  await auth.invalidate(token);
  if (!canResend) return undefined;
  const next = await auth.getToken({ signal });
  return next.authorization === token.authorization ? undefined : next;
}

/** Options of {@link sendWithToken}. */
export interface SendWithTokenOptions<Answer> {
  /**
   * Sends the request with `token.authorization` as its `Authorization`. A client that follows redirects itself must send only the last request of
   * the chain at attempt 2. The requests before it were answered, and a second POST may be a second order.
   */
  send(token: AccessToken, attempt: 1 | 2): Promise<Answer>;
  /** Returns whether an answer rejects the token: its status is 401, and the request that it answers had the token. */
  isRejected(answer: Answer): boolean;
  /** Returns whether `send` can send its request again at attempt 2. It is called after a rejected answer. See `isReplayable`. */
  canResend(answer: Answer): boolean;
  /** Frees the connection of an answer that nobody will read. Its errors are ignored. */
  discard(answer: Answer): unknown;
  /** Resolves with a token. It is called again after a 401. Use it to pass the caller's `signal` to `auth.getToken()`. Default: `auth.getToken()`. */
  waitForToken?: (() => Promise<AccessToken>) | undefined;
}

/**
 * Sends a request with a token of `auth`. If the API rejects the token, sends it once more with another one. Every rejection is reported to `auth`.
 * Resolves with the answer for the caller. Call it only if `auth.covers(url)` is true and the request has no `Authorization` of its own.
 * @throws the errors of `waitForToken` and of `send`
 */
export async function sendWithToken<Answer>(
  auth: Pick<TokenSource, 'getToken' | 'invalidate'>,
  request: SendWithTokenOptions<Answer>,
): Promise<Answer> {
  const { waitForToken = () => auth.getToken() } = request;
  const token = await waitForToken();
  const answer = await request.send(token, 1);
  if (!request.isRejected(answer)) return answer;

  const source = { getToken: waitForToken, invalidate: (rejected: AccessToken) => auth.invalidate(rejected) };
  let next: AccessToken | undefined;
  try {
    next = await replaceRejected(source, token, { canResend: request.canResend(answer) });
  } catch (error) {
    void discard(answer, request);
    throw error;
  }
  if (!next) return answer;
  void discard(answer, request);
  const second = await request.send(next, 2);
  if (request.isRejected(second)) await auth.invalidate(next);
  return second;
}

async function discard<Answer>(answer: Answer, request: SendWithTokenOptions<Answer>): Promise<void> {
  try {
    await request.discard(answer);
  } catch {
    // The request does not depend on this.
  }
}
