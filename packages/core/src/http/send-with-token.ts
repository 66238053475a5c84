import type { AccessToken } from '../contract/access-token.ts';
import type { TokenSource } from '../contract/token-source.ts';

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

/** Options of {@link replaceRejected}. */
export interface ReplaceRejectedOptions {
  /** Ends the wait for another token. */
  readonly signal?: AbortSignal | undefined;
  /**
   * The longest time to wait for another token, in milliseconds. Default: that of
   * `auth.getToken()`.
   */
  readonly maxWaitMs?: number | undefined;
  /** True if the request can be sent again. If not, no other token is requested. Default true. */
  readonly canResend?: boolean | undefined;
}

/**
 * Reports that `token` was rejected, and resolves with another token for a second attempt. Resolves
 * with undefined if the 401 is the answer for the caller: the request cannot be sent again, or
 * `auth` has no other token now. Use it in a client that sends its requests itself, and call it
 * with `canResend: false` after the 401 of the second attempt.
 * @throws the errors of `auth.getToken()`. The client must free the connection of the 401 then
 */
export async function replaceRejected(
  auth: Pick<TokenSource, 'getToken' | 'invalidate'>,
  token: AccessToken,
  { signal, maxWaitMs, canResend = true }: ReplaceRejectedOptions = {},
): Promise<AccessToken | undefined> {
  await auth.invalidate(token);
  if (!canResend) return undefined;
  const next = await auth.getToken({ signal, maxWaitMs });
  return next.authorization === token.authorization ? undefined : next;
}

const tokens = new WeakMap<Promise<AccessToken>, AccessToken>();

/**
 * Returns the token of a promise of `getToken()`, if this function has got the promise before, and
 * it was fulfilled since. The client returns the same promise until it has another token, so a
 * request need not wait for it again: that would take longer than the rest of an adapter.
 * Undefined: wait for the promise.
 */
export function settledToken(promise: Promise<AccessToken>): AccessToken | undefined {
  const token = tokens.get(promise);
  if (!token) promise.then((settled) => tokens.set(promise, settled)).catch(() => {});
  return token;
}

/** Options of {@link sendWithToken}. */
export interface SendWithTokenOptions<Answer> {
  /**
   * Sends the request with `token.authorization` as its `Authorization`. A client that follows
   * redirects by itself must send only the last request of the chain at attempt 2. The requests
   * before it were answered, and a second POST may be a second order.
   */
  send(token: AccessToken, attempt: 1 | 2): Promise<Answer>;
  /**
   * Follows a redirect: makes the request that `answer` asks for the one that `send` sends from now
   * on, and returns true. Returns false if `answer` is no redirect. See `redirectTo`. Default: no
   * redirect is followed, or the client follows redirects by itself. An error that it throws ends
   * the call.
   */
  follow?(answer: Answer): boolean;
  /**
   * Returns whether an answer rejects the token: its status is 401, or the one that this API has in
   * its place, and the request that it answers had the token. An error or rejection of this
   * function ends the call.
   */
  isRejected(answer: Answer): boolean | Promise<boolean>;
  /**
   * Returns whether an answer that is not rejected shows that the API accepted the token: its
   * status is below 400, and the request had the token. Default: each of them shows it.
   */
  isAccepted?(answer: Answer): boolean;
  /**
   * Returns whether `send` can send its request again at attempt 2. It is called after a rejected
   * answer. See `isReplayable`.
   */
  canResend(answer: Answer): boolean;
  /** Frees the connection of an answer that nobody will read. Its errors are ignored. */
  discard(answer: Answer): unknown;
  /**
   * Resolves with a token. It is called again after a 401. Use it to pass the caller's `signal` to
   * `auth.getToken()`. Default: `auth.getToken()`.
   */
  waitForToken?(): Promise<AccessToken>;
}

/**
 * Sends a request with a token of `auth`. If the API rejects the token, sends it once more with
 * another one. Every rejection is reported to `auth`. Resolves with the answer for the caller. Call
 * it only if `auth.covers(url)` is true and the request has no `Authorization` of its own: see
 * `hasAuthorization`.
 * @throws the errors of `waitForToken`, of `send`, of `follow` and of `isRejected`
 */
export async function sendWithToken<Answer>(
  auth: Pick<TokenSource, 'getToken' | 'invalidate' | 'reportAccepted'>,
  request: SendWithTokenOptions<Answer>,
): Promise<Answer> {
  const promise = request.waitForToken ? request.waitForToken() : auth.getToken();
  let token = settledToken(promise) ?? (await promise);
  for (let attempt: 1 | 2 = 1; ; attempt = 2) {
    let answer = await request.send(token, attempt);
    while (request.follow && follow(answer, request)) answer = await request.send(token, attempt);
    const verdict = verdictOn(answer, request);
    if (!(typeof verdict === 'boolean' ? verdict : await verdict)) {
      if (request.isAccepted?.(answer) ?? true) auth.reportAccepted?.(token);
      return answer;
    }
    const next = await replacement(auth, token, answer, request, attempt);
    if (!next) return answer;
    void discard(answer, request);
    token = next;
  }
}

function follow<Answer>(answer: Answer, request: SendWithTokenOptions<Answer>): boolean {
  let isFollowed = true;
  try {
    isFollowed = request.follow?.(answer) ?? false;
    return isFollowed;
  } finally {
    if (isFollowed) void discard(answer, request);
  }
}

function verdictOn<Answer>(answer: Answer, request: SendWithTokenOptions<Answer>): boolean | Promise<boolean> {
  const fail = (error: unknown): never => {
    void discard(answer, request);
    throw error;
  };
  try {
    const verdict = request.isRejected(answer);
    return typeof verdict === 'boolean' ? verdict : Promise.resolve(verdict).catch(fail);
  } catch (error) {
    return fail(error);
  }
}

async function replacement<Answer>(
  auth: Pick<TokenSource, 'getToken' | 'invalidate'>,
  token: AccessToken,
  answer: Answer,
  request: SendWithTokenOptions<Answer>,
  attempt: 1 | 2,
): Promise<AccessToken | undefined> {
  const source = {
    getToken: () => request.waitForToken?.() ?? auth.getToken(),
    invalidate: (rejected: AccessToken) => auth.invalidate(rejected),
  };
  try {
    return await replaceRejected(source, token, { canResend: attempt === 1 && request.canResend(answer) });
  } catch (error) {
    void discard(answer, request);
    throw error;
  }
}

async function discard<Answer>(answer: Answer, request: SendWithTokenOptions<Answer>): Promise<void> {
  try {
    await request.discard(answer);
  } catch {
    // The request does not depend on this.
  }
}
