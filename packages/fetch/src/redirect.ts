import type { TokenSource } from '@service-auth/core';
import { discard } from './body.ts';
import { type Exchange, type Hop, isCovered } from './exchange.ts';
import { without } from './headers.ts';

/** How redirected requests are sent: with the token, and without it. */
export interface Ways {
  readonly auth: TokenSource;
  readonly exchange: Exchange;
  readonly send: typeof fetch;
}

// As many as fetch follows.
const mostRedirects = 20;
const contentHeaders = /^content-(encoding|language|length|location|type)$/i;
const ownHeaders = /^(cookie|host|proxy-authorization)$/i;

/** Whether `response`, received with `redirect: 'manual'`, asks for another request. */
export function isRedirect({ status, headers }: Response): boolean {
  return /^30[12378]$/.test(String(status)) && headers.has('location');
}

/** Goes on after a redirect as fetch would, which does not tell where it went, nor ask. */
export async function followRedirects(first: Response, from: Hop, { auth, exchange, send }: Ways): Promise<Response> {
  let response = first;
  let hop = from;
  for (let count = 1; isRedirect(response); count++) {
    if (count > mostRedirects) throw new TypeError(`More than ${mostRedirects} redirects`);
    const next = nextHop(response, hop);
    discard(response);
    if (!isCovered(auth, next.target)) {
      // From here on without the token, which does not come back: whoever is asked there might send it anywhere within the API.
      response = await send(next.target, { ...next.init, headers: next.fields });
      break;
    }
    response = await exchange(next);
    hop = next;
  }
  return Object.defineProperty(response, 'redirected', { value: true });
}

/**
 * The request that a redirect asks for.
 * @throws `TypeError` where fetch fails
 * @see https://fetch.spec.whatwg.org/#http-redirect-fetch
 */
function nextHop({ status, headers }: Response, { target, init, fields, isReplayable }: Hop): Hop & { target: string } {
  const request = typeof target === 'string' ? undefined : target;
  const from = new URL(request?.url ?? String(target));
  const to = new URL(fromBytes(headers.get('location') ?? ''), from);
  const isForeign = to.origin !== from.origin;
  if (!/^https?:$/.test(to.protocol) || (isForeign && init.mode === 'same-origin')) {
    throw new TypeError('A redirect leads to where it may not go');
  }
  if (status !== 303 && !isReplayable) throw new TypeError('A redirect asks for a body that cannot be sent again');

  const { method = request?.method ?? 'GET', signal = request?.signal ?? null } = init;
  const becomesGet = status === 303 ? !/^(GET|HEAD)$/i.test(method) : status < 303 && /^POST$/i.test(method);
  const kept = becomesGet ? without(fields, contentHeaders) : fields;
  return {
    target: to.href,
    init: { ...init, ...(becomesGet ? { method: 'GET', body: null } : { method }), signal },
    fields: isForeign ? without(kept, ownHeaders) : kept,
    isReplayable: becomesGet || isReplayable,
  };
}

/** Header values are bytes, one by one; what is not ASCII in a Location is meant as UTF-8. */
function fromBytes(text: string): string {
  return new TextDecoder().decode(Uint8Array.from(text, (byte) => byte.charCodeAt(0)));
}
