/** The parts of a request and its answer that a redirect depends on. */
export interface RedirectAnswer {
  readonly status: number;
  /** The `Location` of the answer, as the client returns it. */
  readonly location: string | null | undefined;
  /** The absolute URL of the request. */
  readonly from: string | URL;
  /** The method of the request, in upper or lower case. */
  readonly method: string;
  /** True if the body of the request can be sent again; see `isReplayable`. Default true. */
  readonly canResend?: boolean | undefined;
  /** The number of redirects that led to this request. Default 0. */
  readonly followed?: number | undefined;
}

/** The differences between the request that a redirect asks for and the request before. */
export interface Redirect {
  readonly url: URL;
  /** True if the request becomes a GET without a body. */
  readonly becomesGet: boolean;
  /** True if `url` has another origin. */
  readonly crossesOrigin: boolean;
  /** The names of the headers that must not be sent on, in lower case. */
  readonly dropHeaders: readonly string[];
}

// This is the limit of the Fetch standard.
const maxRedirects = 20;
const contentHeaders = ['content-encoding', 'content-language', 'content-length', 'content-location', 'content-type'];
const originHeaders = ['authorization', 'cookie', 'host', 'proxy-authorization'];

/**
 * Returns whether an answer with this status is a redirect if it has a `Location`: 301, 302, 303,
 * 307 or 308.
 */
export function isRedirect(status: number): boolean {
  return status === 307 || status === 308 || (status >= 301 && status <= 303);
}

/**
 * Returns the request that a redirect asks for, by the rules of the Fetch standard. Undefined: the
 * answer is no redirect. Ask `auth.covers(url)` whether the new request may have the token.
 * @throws `TypeError` where `fetch` fails: the address is not one of http or https, the body
 *   cannot be sent again and the status is not 303, or 20 redirects have been followed already
 * @see https://fetch.spec.whatwg.org/#http-redirect-fetch
 */
export function redirectTo(answer: RedirectAnswer): Redirect | undefined {
  const { status, location, method, canResend = true, followed = 0 } = answer;
  if (!isRedirect(status) || typeof location !== 'string') return undefined;
  if (followed >= maxRedirects) throw new TypeError(`There were more than ${maxRedirects} redirects`);
  const from = new URL(answer.from);
  const target = fromBytes(location);
  const url = URL.canParse(target, from.href) ? new URL(target, from) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new TypeError('The redirect leads to an address that is neither http nor https');
  if (status !== 303 && !canResend)
    throw new TypeError('Cannot follow the redirect: the request body can be sent only once');
  const becomesGet = status === 303 ? !/^(GET|HEAD)$/i.test(method) : status < 303 && /^POST$/i.test(method);
  const crossesOrigin = url.origin !== from.origin;
  const dropHeaders = [...(becomesGet ? contentHeaders : []), ...(crossesOrigin ? originHeaders : [])];
  return { url, becomesGet, crossesOrigin, dropHeaders };
}

/** Decodes UTF-8. Clients return each byte of a header as one character. */
function fromBytes(text: string): string {
  return new TextDecoder().decode(Uint8Array.from(text, (byte) => byte.charCodeAt(0)));
}
