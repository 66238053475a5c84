import type { TokenSource } from '@service-auth/core';
import { discard } from './body.ts';
import { type Fields, withToken } from './headers.ts';

/** One request, without the token. */
export interface Hop {
  readonly target: string | Request;
  readonly init: RequestInit;
  readonly fields: Fields;
  /** Whether it can be sent twice. */
  readonly isReplayable: boolean;
}

/** Sends a request with the token. */
export type Exchange = (hop: Hop) => Promise<Response>;

/** Whether the token may go to `url`. Raw spaces are no attempt to deceive: every parser encodes them. */
export function isCovered(auth: TokenSource, url: string): boolean {
  return auth.covers(url.includes(' ') ? url.replaceAll(' ', '%20') : url);
}

/** Sends the requests of one call: in all, one of them is sent again with another token after a 401. */
export function createExchange(
  auth: TokenSource,
  send: typeof fetch,
  redirect: RequestInit['redirect'] & {},
  signal: AbortSignal | undefined,
): Exchange {
  let isResent = false;

  return async function exchange({ target, init, fields, isReplayable }) {
    let token = await auth.getToken({ signal });
    for (;;) {
      const response = await send(target, { ...init, headers: withToken(fields, token), redirect });
      // Where fetch followed redirects by itself, the token may have been left behind on the way.
      if (response.status !== 401 || response.redirected) return response;
      await auth.invalidate(token);
      if (isResent || !isReplayable) return response;
      const next = await auth.getToken({ signal }).catch((error) => {
        discard(response);
        throw error;
      });
      if (next.authorization === token.authorization) return response;
      discard(response);
      token = next;
      isResent = true;
    }
  };
}
