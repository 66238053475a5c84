// Next.js replaces the global fetch. Its fetch stores answers, even those to POST, and belongs to
// the request that is being served. A token must come from the token endpoint, and it belongs to
// all requests. Next.js does not document this: tests run with Next.js 14, 15 and 16.
// `cache: 'no-store'` would break the build on 16, and with `leftAlone()` alone the page would
// still wait. Core imports nothing, so it does not import `next`.
import { ownProperty } from './untrusted.ts';

interface RequestStorage {
  run<Result>(store: undefined, work: () => Result): Result;
}

interface NextFetch {
  readonly __nextGetStaticStore?: () => RequestStorage;
}

/** Returns the fetch that Next.js replaced by `fetch`, or `fetch` itself. */
export function originalFetch<Fetch extends (url: string, init: never) => unknown>(fetch: Fetch): Fetch {
  const original = ownProperty(fetch, '_nextOriginalFetch');
  return typeof original === 'function' ? (original as Fetch) : fetch;
}

/**
 * Returns a member for the init of fetch. It tells Next.js to ignore this request, even if another
 * package wraps the fetch of Next.js.
 */
export function leftAlone(): { next: object } {
  return { next: { internal: true } };
}

/**
 * Runs `work` outside of the request that Next.js serves or prerenders, with everything that `work`
 * begins. Without Next.js it only runs it.
 */
export function outsideRequest<Result>(work: () => Result): Result {
  // Each `getToken()` comes here, so the usual case reads only one property.
  if ((globalThis.fetch as NextFetch | undefined)?.__nextGetStaticStore === undefined) return work();
  const requests = ownProperty(globalThis.fetch, '__nextGetStaticStore') as NextFetch['__nextGetStaticStore'];
  return requests ? requests().run(undefined, work) : work();
}
