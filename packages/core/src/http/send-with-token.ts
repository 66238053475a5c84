import type { AccessToken } from '../access-token.ts';
import type { TokenSource } from '../token-source.ts';

/** Options of {@link replaceRejected}. */
export interface ReplaceRejectedOptions {
  /** Ends the wait for another token. */
  readonly signal?: AbortSignal | undefined;
  /** Whether the request can be sent again. If not, no token is asked for. Default true. */
  readonly canResend?: boolean | undefined;
}

/**
 * What a 401 of the API leads to: reports that `token` was rejected, and resolves with the token to send the request again with. Resolves with
 * undefined if the 401 is the answer: the request cannot be sent again, or `auth` has no other token now. For a client that sends its requests
 * itself; call it with `canResend: false` for the 401 of the second attempt.
 * @throws what `auth.getToken()` throws. The client has to free the 401 then
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
   * Sends the request with `token.authorization` as its `Authorization`. A client that follows redirects itself sends the last request of the
   * way at attempt 2, not the first one: what came before was answered, and a second POST may be a second order.
   */
  send(token: AccessToken, attempt: 1 | 2): Promise<Answer>;
  /** Whether an answer rejects the token: its status is 401, and the token was sent to where the answer comes from. */
  isRejected(answer: Answer): boolean;
  /** Whether what `send` would send at attempt 2 can be sent again. Called after a rejected answer; see `isReplayable`. */
  canResend(answer: Answer): boolean;
  /** Frees the connection of an answer that nobody will read. What it throws or rejects with is ignored. */
  discard(answer: Answer): unknown;
  /** Resolves with a token. Default: `auth.getToken()`. Called again after a 401: hand the caller's `signal` to `auth.getToken()` here. */
  waitForToken?: (() => Promise<AccessToken>) | undefined;
}

/**
 * Sends a request with a token of `auth`; if the token is rejected, once more with another one. Every rejection is reported to `auth`, the
 * second one too. Resolves with the answer for the caller. Ask `auth.covers(url)` before, and send a request with an
 * `Authorization` of its own without this.
 * @throws what `waitForToken` and `send` throw
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
    // The connection is closed then, and the request goes on.
  }
}
