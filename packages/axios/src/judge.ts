import { rejectsToken } from '@service-auth/core/http';
import type { AxiosHeaders, AxiosResponse, InternalAxiosRequestConfig } from 'axios';

/** Returns whether an answer of the API rejects the token. */
export type IsRejected = (response: AxiosResponse) => boolean | Promise<boolean>;

/**
 * Asks the rule of the application whether an answer rejects the token. The rule gets the answer as
 * the call would resolve with it. Without a rule, the status decides.
 */
export function judge(
  isRejected: IsRejected | undefined,
  response: AxiosResponse,
  config: InternalAxiosRequestConfig,
): boolean | Promise<boolean> {
  if (!isRejected) return rejectsToken(response.status);
  const { status, statusText, data } = response;
  const headers = answerHeadersOf(response, config);
  let isTransformed = false;
  let transformed: unknown;
  return isRejected({
    status,
    statusText,
    headers,
    config,
    // axios will transform the body later. It is transformed here only if the rule reads it.
    get data() {
      if (!isTransformed) transformed = isStream(data) ? undefined : transform(response, headers, config);
      isTransformed = true;
      return transformed;
    },
  });
}

/**
 * Transforms the body as axios does. If that fails, the body stays as it is, and the call rejects
 * with the failure.
 */
function transform(
  { data, status }: AxiosResponse,
  headers: AxiosHeaders,
  config: InternalAxiosRequestConfig,
): unknown {
  try {
    return [config.transformResponse ?? []]
      .flat()
      .reduce((body, change) => change.call(config, body, headers.normalize(false), status), data);
  } catch {
    return data;
  }
}

/** Returns a copy of the headers, because transformations may change it. */
function answerHeadersOf({ headers }: AxiosResponse, config: InternalAxiosRequestConfig): AxiosHeaders {
  return (config.headers.constructor as typeof AxiosHeaders).concat(headers as AxiosHeaders);
}

/** True if a body can be read only once: by the rule or by the caller. */
function isStream(data: unknown): boolean {
  const { pipe, getReader } = Object(data) as { pipe?: unknown; getReader?: unknown };
  return typeof pipe === 'function' || typeof getReader === 'function';
}
