import type { Dispatcher } from 'undici';

/** Options of `serviceAuthInterceptor`. */
export interface ServiceAuthInterceptorOptions {
  /**
   * Returns whether an answer rejects the token, for an API that answers an expired token with 403 or 400. Such an answer is treated as a 401 is by default,
   * and no other one is, not even a 401. It is asked only about requests that had the token. The names of the headers are in lower case. The request
   * fails with what it throws or rejects with. Default: the status is 401.
   */
  readonly isRejected?:
    | ((response: Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'>) => boolean | Promise<boolean>)
    | undefined;
}
