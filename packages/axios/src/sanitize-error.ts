import type { AxiosError } from 'axios';
import { printableUrl } from './request-url.ts';

/** What {@link sanitizeError} leaves of an error: enough to know what failed, and no header, no body and no query. */
export interface SanitizedError extends Error {
  /** Such as `ERR_BAD_REQUEST` or `ECONNREFUSED`. */
  readonly code?: string | undefined;
  /** The status of the answer, if there was one. */
  readonly status?: number | undefined;
  /** In upper case. */
  readonly method?: string | undefined;
  /** Without credentials, query and fragment. */
  readonly url?: string | undefined;
}

const deepestCause = 5;
const serviceAuthError = Symbol.for('@service-auth/error');

/**
 * The error to log in place of an AxiosError, which leads to the `Authorization` header by its `request`, its `response` and, unless
 * `attachServiceAuth` put it there, by its `config`. Takes anything that was thrown, and leaves it as it is; a ServiceAuthError is returned itself.
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
  Object.defineProperty(clean, 'name', { value: name ?? 'Error', configurable: true, writable: true });
  return Object.assign(clean, {
    ...(code && { code }),
    ...(response && { status: response.status }),
    ...(config?.method && { method: config.method.toUpperCase() }),
    ...(config && { url: printableUrl(config) }),
  });
}

/** Messages may quote a header: those of fetch about one that it does not accept, those of mocks about a request they did not expect. */
function withoutCredentials(text: string): string {
  return text
    .replace(/\b(bearer|basic)\s+[\w\-.~+/]+=*/gi, '$1 [removed]')
    .replace(/\beyJ[\w-]*\.[\w-]+\.[\w-]*/g, '[removed]')
    .replace(/\/\/[^\s/?#@]*@/g, '//[removed]@');
}
