import type { TokenSource } from '@service-auth/core';
import { isReplayable, sendWithToken } from '@service-auth/core/http';
import { createExchange } from './exchange.ts';
import { fieldsOf, hasAuthorization } from './headers.ts';

/** Any fetch: the global one, that of undici, a mock. */
export type FetchLike = (
  input: never,
  init?: never,
) => Promise<
  Pick<Response, 'status' | 'url' | 'redirected'> & { readonly headers: { get(name: string): string | null } }
>;

/** Options of {@link createAuthFetch}. */
export interface AuthFetchOptions<Fetch extends FetchLike = typeof fetch> {
  /** What sends the requests. Default: the global `fetch`, looked up at each request. */
  readonly fetch?: Fetch | undefined;
  /**
   * True: the body of a `Request` is read into memory before it is sent, so that it can be sent a second time. Default false: the body
   * of a `Request` is a stream, whatever it was made of, and its 401 is returned.
   */
  readonly bufferRequests?: boolean | undefined;
}

/**
 * A `fetch` whose requests to where `auth.covers()` allows it carry the token of `auth`, and are sent once more if the API answers 401
 * and another token is to be had. All others, and those with an `Authorization` of their own, are passed on as they are.
 *
 * It takes what the given `fetch` takes, and rejects as it does; while it waits for a token, with the error of core or the reason of `signal`.
 */
export function createAuthFetch(auth: TokenSource, options?: AuthFetchOptions<never>): typeof fetch;
// Apart: without a fetch to infer from, TypeScript before 6 would infer from where the result is put, "or undefined" included.
export function createAuthFetch<Fetch extends FetchLike = typeof fetch>(
  auth: TokenSource,
  options?: AuthFetchOptions<Fetch>,
): Fetch;
export function createAuthFetch(
  auth: TokenSource,
  { fetch: given, bufferRequests = false }: AuthFetchOptions<FetchLike> = {},
): FetchLike {
  function start(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const send = (given ?? fetch) as unknown as typeof fetch;
    const request = typeof input === 'object' && 'url' in input ? input : undefined;
    const url = request?.url ?? String(input);
    if (!auth.covers(url)) return send(input, init);
    // A Request in the place of the fields has them on its prototype, where they cannot be copied. Of its own class: `send` may take no other.
    if (init && 'clone' in init) return start(new (init.constructor as typeof Request)(input, init));
    const fields = fieldsOf(init?.headers ?? request?.headers);
    // The copy, for what iterates over headers may do so only once.
    if (hasAuthorization(fields)) return send(input, init && { ...init, headers: fields });

    const body = init?.body ?? request?.body;
    const copy: RequestInit = { ...init };
    const canResend = isReplayable(body);
    if (!canResend && bufferRequests && request && body === request.body) {
      return request.arrayBuffer().then((buffered) => start(request, { ...copy, headers: fields, body: buffered }));
    }
    const redirect = init?.redirect ?? request?.redirect ?? 'follow';
    // fetch leaves the token behind at another origin only, and does not tell which way it went. But it alone can take a body along that
    // was handed to it as a stream, or check the integrity of what is at the end: so it may, unless the token has to stay under a path.
    const leavesTokenBehind = () => auth.covers(new URL('/', url)) && !takesTokenAlong();
    const followsRedirects = redirect === 'follow' && ((canResend && !init?.integrity) || !leavesTokenBehind());
    if (followsRedirects) copy.redirect = 'manual';
    // A signal of null takes the one of a Request away.
    const signal = init?.signal === undefined ? request?.signal : init.signal;
    const first = { target: request ?? url, init: copy, fields, canResend, carriesToken: true, followed: 0 };
    return sendWithToken(auth, createExchange(first, { auth, send, followsRedirects, signal: signal ?? undefined }));
  }

  // Not an async function around it all: that costs a tenth of a request.
  function authFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    try {
      return start(input, init);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  return authFetch as FetchLike;
}

/** In Cloudflare Workers with a compatibility date before September 2025, fetch takes the token along to wherever it is redirected. */
function takesTokenAlong(): boolean {
  const { navigator } = globalThis as { navigator?: { userAgent?: unknown } };
  return navigator?.userAgent === 'Cloudflare-Workers';
}
