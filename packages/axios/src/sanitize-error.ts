import { ownProperties } from '@service-auth/core/http';
import type { AxiosError } from 'axios';
import { printableUrl } from './request-url.ts';

/** The result of {@link sanitizeError}. It says what failed and contains no header, no body and no query. */
export interface SanitizedError extends Error {
  /** The code of the error, such as `ERR_BAD_REQUEST` or `ECONNREFUSED`. */
  readonly code?: string | undefined;
  /** The HTTP status of the answer. Absent if no answer arrived. */
  readonly status?: number | undefined;
  /** The method of the request, in upper case. */
  readonly method?: string | undefined;
  /** The URL of the request, without credentials, query and fragment. */
  readonly url?: string | undefined;
}

const deepestCause = 5;
const serviceAuthError = Symbol.for('@service-auth/error');

/**
 * Returns an error to log in place of an AxiosError. An AxiosError contains the `Authorization` header in its `request`, its `response` and, if the
 * application set the header itself, in its `config`. `error` may be any thrown value; it is not changed. A ServiceAuthError is returned itself.
 */
export function sanitizeError(error: unknown): SanitizedError {
  return sanitized(error, 0);
}

function sanitized(error: unknown, depth: number): SanitizedError {
  if (typeof error !== 'object' || error === null) return new Error(withoutCredentials(String(error)));
  if (Object.hasOwn(error, serviceAuthError)) return error as SanitizedError;
  const { name, message, stack, code, response, config, cause } = error as Partial<AxiosError>;
  const clean = new Error(withoutCredentials(String(message ?? '')));
  if (cause && depth < deepestCause) clean.cause = sanitized(cause, depth + 1);
  clean.stack = withoutCredentials(String(stack ?? clean.stack));
  Object.defineProperty(clean, 'name', ownProperties({ value: name ?? 'Error', configurable: true, writable: true }));
  return Object.assign(clean, {
    ...(code && { code }),
    ...(response && { status: response.status }),
    ...(config?.method && { method: config.method.toUpperCase() }),
    ...(config && { url: printableUrl(config) }),
  });
}

/** Removes credentials from a message. fetch quotes headers that it does not accept, and mocks quote requests that they did not expect. */
function withoutCredentials(text: string): string {
  return text
    .replace(/\b(bearer|basic)\s+[\w\-.~+/]+=*/gi, '$1 [removed]')
    .replace(/\beyJ[\w-]*\.[\w-]+\.[\w-]*/g, '[removed]')
    .replace(/\/\/[^\s/?#@]*@/g, '//[removed]@');
}
