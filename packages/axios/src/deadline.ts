import type { AccessToken, TokenSource } from '@service-auth/core';
import type { AxiosError, InternalAxiosRequestConfig } from 'axios';
import type { Changes, Dispatch } from './dispatch.ts';

/** When the caller gives up one request, the waits for tokens included. */
export interface Deadline {
  /** A token, unless the caller's `signal`, `cancelToken` or `timeout` ends the wait. */
  waitForToken(source: TokenSource): Promise<AccessToken>;
  /** `timeout`, or what is left of it after a wait and a first request. */
  rest(): Changes;
}

export function createDeadline(config: InternalAxiosRequestConfig, dispatch: Dispatch): Deadline {
  const { signal, cancelToken } = config;
  const timeout = Number(config.timeout) || 0;
  const startedAt = timeout && performance.now();
  let isUsed = false;

  const timeLeft = () => Math.max(1, Math.ceil(timeout - (performance.now() - startedAt)));

  async function wait(source: TokenSource): Promise<AccessToken> {
    isUsed = true;
    const controller = new AbortController();
    const end = () => controller.abort();
    let isOver = false;
    const timer = timeout
      ? setTimeout(() => {
          isOver = true;
          end();
        }, timeLeft())
      : undefined;
    signal?.addEventListener?.('abort', end);
    cancelToken?.subscribe(end);
    if (signal?.aborted) end();
    try {
      return await source.getToken({ signal: controller.signal });
    } catch (error) {
      // axios itself says it when `signal` or `cancelToken` is the reason: whatever an adapter rejects with then becomes a CanceledError.
      throw isOver ? await timeoutError(config, dispatch) : error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener?.('abort', end);
      cancelToken?.unsubscribe(end);
    }
  }

  return {
    // A token at hand is not waited for: `getToken()` then sets off renewals, and nothing else.
    waitForToken: (source) => (source.peekToken() ? source.getToken() : wait(source)),
    rest() {
      if (!timeout) return {};
      const isWhole = !isUsed;
      isUsed = true;
      const timeoutErrorMessage = config.timeoutErrorMessage || `timeout of ${timeout}ms exceeded`;
      return isWhole ? {} : { timeout: timeLeft(), timeoutErrorMessage };
    },
  };
}

/** The error that axios rejects with when its `timeout` is over. */
function timeoutError(config: InternalAxiosRequestConfig, dispatch: Dispatch): Promise<AxiosError> {
  const { timeout, timeoutErrorMessage, transitional } = config;
  const code = transitional?.clarifyTimeoutError ? 'ETIMEDOUT' : 'ECONNABORTED';
  return dispatch.failure(config, timeoutErrorMessage || `timeout of ${timeout}ms exceeded`, code);
}
