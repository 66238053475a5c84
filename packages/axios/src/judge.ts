import type { AxiosHeaders, AxiosResponse, InternalAxiosRequestConfig } from 'axios';

/** Says which answers of the API reject the token. */
export type IsRejected = (response: AxiosResponse) => boolean | Promise<boolean>;

/** The rule of the application, given the answer as its call would resolve with it. */
export function judge(
  isRejected: IsRejected,
  response: AxiosResponse,
  config: InternalAxiosRequestConfig,
): boolean | Promise<boolean> {
  const { status, statusText, data } = response;
  const headers = headersOf(response, config);
  let isTransformed = false;
  let transformed: unknown;
  return isRejected({
    status,
    statusText,
    headers,
    config,
    // axios transforms the answer after this, so here it is transformed only if the rule reads it.
    get data() {
      if (!isTransformed) transformed = isStream(data) ? undefined : transform(response, headers, config);
      isTransformed = true;
      return transformed;
    },
  });
}

/** Returns what axios makes of the body. A body that it fails to transform stays as it is: its call rejects with that failure. */
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

/** A copy, because transformations may change it. */
function headersOf({ headers }: AxiosResponse, config: InternalAxiosRequestConfig): AxiosHeaders {
  return (config.headers.constructor as typeof AxiosHeaders).concat(headers as AxiosHeaders);
}

/** Only one can read it: the rule or the caller. */
function isStream(data: unknown): boolean {
  const { pipe, getReader } = Object(data) as { pipe?: unknown; getReader?: unknown };
  return typeof pipe === 'function' || typeof getReader === 'function';
}
