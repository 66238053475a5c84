import type { AccessToken, TokenSource } from '@service-auth/core';
import { isTokenPending } from '@service-auth/core/http';
import type { AxiosError, InternalAxiosRequestConfig } from 'axios';
import type { Changes, Dispatch } from './dispatch.ts';

/** The deadline of one call. It includes the time that the call waits for tokens. */
export interface Deadline {
  /** Waits for a token until the caller's `signal`, `cancelToken` or `timeout` ends the wait. */
  waitForToken(auth: TokenSource): Promise<AccessToken>;
  /**
   * Returns the settings for the time that is left of `timeout` after a wait or a first request.
   * Empty before either of them.
   */
  rest(): Changes;
}

export function createDeadline(config: InternalAxiosRequestConfig, dispatch: Dispatch): Deadline {
  const { signal, cancelToken } = config;
  const timeout = Number(config.timeout) || 0;
  const startedAt = timeout && performance.now();
  let isUsed = false;

  const timeLeft = () => Math.max(1, Math.ceil(timeout - (performance.now() - startedAt)));

  async function wait(auth: TokenSource): Promise<AccessToken> {
    isUsed = true;
    const controller = new AbortController();
    const end = () => controller.abort();
    signal?.addEventListener?.('abort', end);
    cancelToken?.subscribe(end);
    if (signal?.aborted) end();
    try {
      return await auth.getToken({ signal: controller.signal, maxWaitMs: timeout ? timeLeft() : undefined });
    } catch (error) {
      // If `signal` or `cancelToken` ended the wait, axios replaces any rejection of an adapter by
      // a CanceledError.
      throw timeout && isTokenPending(error) ? await timeoutError(config, dispatch, error) : error;
    } finally {
      signal?.removeEventListener?.('abort', end);
      cancelToken?.unsubscribe(end);
    }
  }

  return {
    // If a token is cached, `getToken()` returns at once and at most starts a renewal: no deadline
    // is needed.
    waitForToken: (auth) => (auth.peekToken() ? auth.getToken() : wait(auth)),
    rest() {
      if (!timeout) return {};
      const isWhole = !isUsed;
      isUsed = true;
      const timeoutErrorMessage = config.timeoutErrorMessage || `timeout of ${timeout}ms exceeded`;
      return isWhole ? {} : { timeout: timeLeft(), timeoutErrorMessage };
    },
  };
}

/**
 * The error that axios rejects with when `timeout` has passed. Its cause is the error that says
 * what the call waited for.
 */
function timeoutError(config: InternalAxiosRequestConfig, dispatch: Dispatch, cause: Error): Promise<AxiosError> {
  const { timeout, timeoutErrorMessage, transitional } = config;
  const code = transitional?.clarifyTimeoutError ? 'ETIMEDOUT' : 'ECONNABORTED';
  return dispatch.failure(config, timeoutErrorMessage || `timeout of ${timeout}ms exceeded`, code, cause);
}
