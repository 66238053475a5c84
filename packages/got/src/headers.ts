import type { AccessToken } from '@service-auth/core';
import { hideAgentRequests } from '@service-auth/core/http';
import type { BeforeRequestHook, Options } from 'got';

type Headers = Options['headers'];

/** The tokens that stand in the headers of requests, hidden from printing. */
export interface HiddenTokens {
  /** Returns the token of these headers. Undefined: they have none of these tokens. */
  tokenIn(headers: Headers): AccessToken | undefined;
  /** Adds a token to a request. */
  addTo(options: Parameters<BeforeRequestHook>[0], token: AccessToken): void;
}

/** Creates the tokens of one client. */
export function createHiddenTokens(): HiddenTokens {
  const tokens = new WeakMap<object, AccessToken>();
  return {
    tokenIn: (headers) => tokens.get(Object(headers['authorization'])),
    addTo(options, token) {
      // Node sends this value as text, and printing does not show it. got's errors contain the
      // headers, and got calls no hook with the errors of an abort, of `cancel()`, of a stream that
      // the application destroys, and of a `json()` that finds no JSON.
      const hidden = { toString: () => token.authorization };
      tokens.set(hidden, token);
      options.headers['authorization'] = hidden as never;
      // got's cache would store all headers of this request with an answer that has `Vary`.
      if (options.cache) options.cache = false;
      // got's errors contain the agents, too.
      if (options.agent) for (const agent of Object.values(options.agent)) if (agent) hideAgentRequests(agent);
    },
  };
}

/** Returns the `Authorization` of these headers. Undefined: they have none. */
export function authorizationIn(headers: Headers): unknown {
  return Object.hasOwn(headers, 'authorization') ? headers['authorization'] : undefined;
}

/**
 * Returns whether the application set this `Authorization`. An object is the token of another
 * client, or of the same client if it was attached twice.
 */
export function isOwn(authorization: unknown): boolean {
  return typeof authorization === 'string' || Array.isArray(authorization);
}
