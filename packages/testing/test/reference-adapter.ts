import { type AccessToken, createServiceAuth } from '@service-auth/core';
import { hasAuthorization, isReplayable, redirectTo, sendWithToken } from '@service-auth/core/http';
import type { ConnectHttpClient, HttpClientBody, HttpClientRequest } from '../src/index.ts';

/** A request to one address: the one that was asked for, or one that a redirect asks for. */
interface Hop {
  readonly url: string;
  readonly init: Omit<RequestInit, 'headers'> & {
    readonly method: string;
    readonly headers: Readonly<Record<string, string>>;
  };
  /** The number of redirects before this request. */
  readonly followed: number;
}

function contentOf(body: HttpClientBody | undefined): Omit<RequestInit, 'headers'> {
  if (!body) return {};
  if (body.kind === 'json') return { body: JSON.stringify(body.value) };
  return { body: body.value, ...(body.kind === 'stream' && { duplex: 'half' }) };
}

function firstHop({ url, method, headers, body, signal, timeoutMs }: HttpClientRequest): Hop {
  const signals = [signal ?? [], timeoutMs === undefined ? [] : AbortSignal.timeout(timeoutMs)].flat();
  return { url, init: { method, headers, signal: AbortSignal.any(signals), ...contentOf(body) }, followed: 0 };
}

const discard = (response: Response) => response.body?.cancel();

/** A right adapter for fetch. It follows redirects itself, for fetch does not show them. */
export const connectReferenceAdapter: ConnectHttpClient = ({
  options,
  isRejected = ({ status }) => status === 401,
}) => {
  const auth = createServiceAuth(options);

  function nextHop({ url: from, init, followed }: Hop, { status, headers }: Response): Hop | undefined {
    const redirect = redirectTo({ status, location: headers.get('location'), from, method: init.method, followed });
    if (!redirect) return undefined;
    const { dropHeaders, becomesGet } = redirect;
    const url = redirect.url.href;
    const kept = Object.entries(init.headers).filter(([name]) =>
      name === 'authorization' ? auth.covers(url) : !dropHeaders.includes(name.toLowerCase()),
    );
    const changes = becomesGet ? { method: 'GET', body: null } : {};
    return { url, init: { ...init, ...changes, headers: Object.fromEntries(kept) }, followed: followed + 1 };
  }

  async function send(request: HttpClientRequest): Promise<Response> {
    let last = firstHop(request);

    async function sendFrom(hop: Hop): Promise<Response> {
      last = hop;
      const response = await fetch(hop.url, { ...hop.init, redirect: 'manual' });
      const next = nextHop(hop, response);
      if (!next) return response;
      await discard(response);
      return sendFrom(next);
    }

    if (request.optOut || !auth.covers(request.url) || hasAuthorization(request.headers, auth)) return sendFrom(last);
    return sendWithToken(auth, {
      waitForToken: () => auth.getToken({ signal: request.signal }),
      send: ({ authorization }: AccessToken) =>
        sendFrom({ ...last, init: { ...last.init, headers: { ...last.init.headers, authorization } } }),
      isRejected: ({ status }) => 'authorization' in last.init.headers && isRejected({ status }),
      canResend: () => request.body?.kind === 'json' || isReplayable(request.body?.value),
      discard,
    });
  }

  return {
    auth,
    async request(request) {
      const response = await send(request);
      return { status: response.status, text: await response.text() };
    },
    close: () => auth.close(),
  };
};
