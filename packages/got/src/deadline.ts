import type { AccessToken, TokenSource } from '@service-auth/core';
import { isTokenPending } from '@service-auth/core/http';
import { type Options, RequestError, TimeoutError } from 'got';

type Limits = Pick<Options, 'signal' | 'timeout'>;

/**
 * By each error that got sees when a wait ended too late: the error that says what the request
 * waited for.
 */
const causes = new WeakMap<Error, Error>();

/**
 * Starts to wait for a token, until `signal` or `timeout.request` ends the wait. got itself does
 * not time the hooks before a request.
 */
export function waitForToken(auth: TokenSource, limits: Limits): Promise<AccessToken> {
  return auth.getToken(limitsOf(limits));
}

/** Returns the limits of a wait for a token. Undefined: the request has none. */
export function limitsOf({
  signal,
  timeout,
}: Limits): { signal?: AbortSignal | undefined; maxWaitMs?: number | undefined } | undefined {
  const maxWaitMs = timeout.request;
  return signal || maxWaitMs !== undefined ? { signal, maxWaitMs } : undefined;
}

/**
 * Rejects as got times out if `timeout.request` ends the wait, so that got tries again as it does
 * after its own time-outs.
 */
export async function inTime<Result>(wait: Promise<Result>, { timeout }: Limits): Promise<Result> {
  try {
    return await wait;
  } catch (error) {
    if (!isTokenPending(error)) throw error;
    const timedOut = new Error(`Timeout awaiting 'request' for ${timeout.request}ms`);
    causes.set(Object.assign(timedOut, { code: 'ETIMEDOUT', event: 'request' }), error);
    throw timedOut;
  }
}

/**
 * Returns the error of got for a wait that ended too late. Undefined: `error` has another reason.
 */
export function timeoutError(error: RequestError): RequestError | undefined {
  const { cause, request, timings } = error;
  const waitedFor = cause instanceof Error ? causes.get(cause) : undefined;
  if (!waitedFor) return undefined;
  // got's own time-outs have this class. An error of another copy of got stays as it is.
  const isOwn = error instanceof RequestError && request !== undefined;
  return Object.assign(isOwn ? new TimeoutError(cause as never, timings as never, request) : error, {
    cause: waitedFor,
  });
}
