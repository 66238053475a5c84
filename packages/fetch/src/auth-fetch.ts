import type { TokenSource } from '@service-auth/core';
import {
  abortable,
  checkIsRejected,
  checkTokenSource,
  hasAuthorization,
  isReplayable,
  listenToErrors,
  ownProperties,
  sendWithToken,
} from '@service-auth/core/http';
import { Exchange } from './exchange.ts';
import { fieldsOf } from './headers.ts';

/** A function with the signature of fetch: the global one, undici's, or a mock. */
export type FetchLike = (
  input: never,
  init?: never,
) => Promise<
  Pick<Response, 'status' | 'url' | 'redirected'> & { readonly headers: { get(name: string): string | null } }
>;

/** Options of {@link createAuthFetch}. */
export interface AuthFetchOptions<Fetch extends FetchLike = typeof fetch> {
  /**
   * The function that sends the requests. Default: the global `fetch`, read at each request, which
   * this function may replace.
   */
  readonly fetch?: Fetch | undefined;
  /**
   * True: the body of a `Request` is read into memory before it is sent, so that it can be sent
   * again after a 401. Default false: the body of a `Request` is a stream that can be sent only
   * once, so its 401 is returned.
   */
  readonly bufferRequests?: boolean | undefined;
  /**
   * Returns whether an answer rejects the token, for an API that answers an expired token with 403,
   * 400 or even 200. Such an answer is treated as a 401 is by default, and no other answer is, not
   * even a 401. The function is asked only about requests that had the token. It gets a clone, so
   * the caller can still read the body. The call rejects with what the function throws or rejects
   * with. Default: the status is 401, and nothing is cloned.
   */
  readonly isRejected?: ((response: Awaited<ReturnType<Fetch>>) => boolean | Promise<boolean>) | undefined;
}

/**
 * Creates a `fetch` that adds the token of `auth` to every request whose URL `auth.covers()`, and
 * sends the request once more if the API answers 401 and another token is available. Other
 * requests, and requests with their own `Authorization`, are passed on unchanged.
 *
 * It takes the same arguments as the given `fetch` and rejects with the same errors. While it waits
 * for a token, it rejects with a ServiceAuthError, or with the reason of `signal`.
 * @throws TypeError if `auth` is no client or has no `baseUrl`, or if `fetch` or `isRejected` is no
 * function
 */
export function createAuthFetch(
  auth: TokenSource,
  options?: AuthFetchOptions & { readonly fetch?: undefined },
): typeof fetch;
// The overload above serves calls without `fetch`: for them, TypeScript before 6 would infer
// `Fetch` from the variable that takes the result, "or undefined" included.
export function createAuthFetch<Fetch extends FetchLike = typeof fetch>(
  auth: TokenSource,
  options?: AuthFetchOptions<Fetch>,
): Fetch;
export function createAuthFetch(
  auth: TokenSource,
  { fetch: given, bufferRequests = false, isRejected }: AuthFetchOptions<FetchLike> = {},
): FetchLike {
  checkTokenSource(auth, 'fetch');
  checkIsRejected(isRejected, 'fetch');
  if (given !== undefined && typeof given !== 'function')
    throw new TypeError('[service-auth/fetch] The option `fetch` must be a function.');
  const globalAtFirst = globalThis.fetch;
  const send = (given as typeof fetch | undefined) ?? sendByGlobal;
  const isSent = Symbol('sent');
  let isInGlobal = false;

  function sendByGlobal(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    isInGlobal = true;
    try {
      // A function that the application put there may call this one after a while, with the same
      // options or a copy of them.
      const isMarked = fetch !== globalAtFirst && !(init && isRequest(init));
      return fetch(input, isMarked ? Object.assign(ownProperties(init), { [isSent]: true }) : init);
    } finally {
      isInGlobal = false;
    }
  }

  function start(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const request = typeof input === 'object' && isRequest(input) ? input : undefined;
    const url = request?.url ?? String(input);
    if (!auth.covers(url)) return send(input, init);
    // A Request as `init` has its fields on the prototype, where a spread does not copy them. The
    // new Request has the class that `send` expects.
    if (init && isRequest(init)) return start(new (init.constructor as typeof Request)(input, init));
    const copy = ownProperties(init) as RequestInit & { next?: { internal?: unknown } };
    // Core and Next.js mark the requests that they send by the global fetch: this one asks for the
    // token.
    if (copy.next && ownProperties(copy.next).internal === true) return send(input, init);
    // fetch says what is wrong with headers of another type.
    if (typeof (copy.headers ?? {}) !== 'object') return send(input, init);
    const fields = fieldsOf(copy.headers ?? request?.headers);
    // Pass on the copy: the original headers may be an iterator, which can be read only once.
    if (hasAuthorization(fields, auth)) return send(input, init && Object.assign(copy, { headers: fields }));

    const body = copy.body ?? request?.body;
    const canResend = isReplayable(body);
    if (!canResend) listenToErrors(body);
    if (!canResend && bufferRequests && request && body === request.body) {
      copy.headers = fields;
      return sendBuffered(request, copy);
    }
    const redirect = copy.redirect ?? request?.redirect ?? 'follow';
    // fetch removes the token only at another origin and does not report the redirects. But only
    // fetch itself can send a streamed body along a redirect, or check the integrity of the last
    // answer. In these cases fetch follows redirects, unless the token must stay under a path.
    const followsRedirects = redirect === 'follow' && ((canResend && !copy.integrity) || !leavesTokenBehind(url));
    if (followsRedirects) copy.redirect = 'manual';
    // `signal: null` overrides the signal of a Request.
    const signal = copy.signal === undefined ? request?.signal : copy.signal;
    const first = { target: request ?? url, init: copy, fields, canResend, carriesToken: true, followed: 0 };
    return sendWithToken(
      auth,
      new Exchange(first, { auth, send, followsRedirects, signal: signal ?? undefined, isRejected }),
    );
  }

  async function sendBuffered(request: Request, init: RequestInit): Promise<Response> {
    const signal = (init.signal === undefined ? request.signal : init.signal) ?? undefined;
    return start(request, Object.assign(init, { body: await abortable(request.arrayBuffer(), signal) }));
  }

  const leavesTokenBehind = (url: string) => auth.covers(new URL('/', url)) && !takesTokenAlong();

  // This is no async function, because that would take a tenth more time for each request.
  function authFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    try {
      // The application put this function, or one that calls it, in place of the global one.
      if (isInGlobal || Object.hasOwn(Object(init), isSent)) return globalAtFirst(input, init);
      return start(input, init);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  return authFetch as FetchLike;
}

/**
 * True if an object is a Request of any implementation: it has a `clone` that nobody put on the
 * prototype of all objects.
 */
function isRequest(value: object): value is Request {
  return 'clone' in value && (!('clone' in Object.prototype) || value.clone !== Object.prototype.clone);
}

/**
 * In Cloudflare Workers with a compatibility date before September 2025, fetch sends the token to
 * every redirect target.
 */
function takesTokenAlong(): boolean {
  const { navigator } = globalThis as { navigator?: { userAgent?: unknown } };
  return navigator?.userAgent === 'Cloudflare-Workers';
}
