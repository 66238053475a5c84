import type { TokenSource } from '@service-auth/core';
import type { AxiosInstance, InternalAxiosRequestConfig } from 'axios';
import { createDispatch } from './dispatch.ts';
import { createProxyGuard } from './proxy.ts';
import { send } from './send.ts';

declare module 'axios' {
  interface AxiosRequestConfig {
    /** False: this request is sent without a token of `attachServiceAuth`. Default true. */
    serviceAuth?: boolean | undefined;
  }
}

/**
 * An instance of axios, by what tells it from other things. Not by axios's own type: its declarations for `import`, for `require` and of different
 * versions exclude each other, and an application may have instances of all.
 */
export interface AttachableAxios {
  readonly interceptors: { readonly request: { eject(id: number): void } };
}

interface Attachment {
  readonly sources: Set<TokenSource>;
  end(): void;
}

// On the instance, under a registered symbol: a process that uses ESM and CommonJS has this module twice.
const attachmentKey: unique symbol = Symbol.for('@service-auth/axios');
type Host = AxiosInstance & { [attachmentKey]?: Attachment };

/**
 * From now on, requests of `instance` to where `auth.covers()` allows it carry the token of `auth`, and those that the API answers with 401 are
 * sent once more if another token is to be had. Requests to elsewhere, with an `Authorization` or `auth` of their own, or with
 * `{ serviceAuth: false }` are left alone. `instance` may be any axios instance of axios 1.6.8 or newer, the default one included.
 *
 * Attaching the same `auth` again changes nothing. Of several, the one attached first that covers a URL serves it.
 *
 * An `auth` that covers nothing of this instance, for it has no `baseUrl` or another one, is not refused here: what the instance will be asked
 * for is not known yet, and one instance may call several APIs. Instead the AxiosError of a request that got no token for that
 * reason, and a 401 in return, says so in its `cause`.
 * @returns a function that ends it and leaves the instance as it was. Requests already sent are finished as they were begun
 * @throws TypeError for an `instance` or an `auth` that is none
 */
export function attachServiceAuth(instance: AttachableAxios, auth: TokenSource): () => void {
  if (typeof auth?.covers !== 'function') {
    throw new TypeError(
      '[service-auth/axios] The second argument of attachServiceAuth must be a client of createServiceAuth.',
    );
  }
  const host = instance as Host | undefined;
  const { sources, end } = host?.[attachmentKey] ?? attach(host);
  sources.add(auth);
  return () => {
    if (sources.delete(auth) && sources.size === 0) end();
  };
}

function attach(host: Host | undefined): Attachment {
  const bare: AxiosInstance | undefined = host?.create?.({});
  // Test frameworks mock axios in ways that have some of its methods.
  if (!host?.interceptors?.request || !bare?.defaults) {
    throw new TypeError(
      '[service-auth/axios] The first argument of attachServiceAuth must be an axios instance, not a mock of one.',
    );
  }
  const sources = new Set<TokenSource>();
  const dispatch = createDispatch(bare);
  const guard = createProxyGuard(dispatch);
  // Whatever other interceptors do to a request, the adapter sees the outcome: there it is judged, and sent.
  const wrapAdapter = (config: InternalAxiosRequestConfig): InternalAxiosRequestConfig => {
    const { adapter } = config;
    config.adapter = (final) => send(Object.assign(final, { adapter }), sources, dispatch, guard);
    return config;
  };
  const id = host.interceptors.request.use(wrapAdapter, null, { synchronous: true });
  const attachment: Attachment = {
    sources,
    end() {
      host.interceptors.request.eject(id);
      delete host[attachmentKey];
    },
  };
  Object.defineProperty(host, attachmentKey, { value: attachment, configurable: true });
  return attachment;
}
