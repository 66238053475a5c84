// Next.js replaces the global fetch by one of its own, which stores answers, those to POST included, and belongs to the request that is served.
// A token must come from the token endpoint and belongs to all requests. Nothing of this is documented: tests with Next.js 14, 15 and 16 hold it.
import { own, ownProperties } from './foreign.ts';

interface RequestStorage {
  run<Result>(store: undefined, work: () => Result): Result;
}

interface NextFetch {
  readonly __nextGetStaticStore?: () => RequestStorage;
}

/** The fetch that Next.js replaced, if it replaced this one. */
export function originalFetch<Fetch extends (url: string, init: never) => unknown>(fetch: Fetch): Fetch {
  const original = own(fetch, '_nextOriginalFetch');
  return typeof original === 'function' ? (original as Fetch) : fetch;
}

/** For the init of a fetch: what tells Next.js to leave it alone, where another package hides the fetch of Next.js behind its own. Nobody else reads it. */
export function leftAlone(): { next: object } {
  return { next: ownProperties({ internal: true }) };
}

/** Runs `work`, and whatever it begins, as a part of no request that Next.js serves or prerenders. Elsewhere it just runs it. */
export function outsideRequest<Result>(work: () => Result): Result {
  // The usual case is decided by one look, for each `getToken()` comes here.
  if ((globalThis.fetch as NextFetch | undefined)?.__nextGetStaticStore === undefined) return work();
  const requests = own(globalThis.fetch, '__nextGetStaticStore') as NextFetch['__nextGetStaticStore'];
  return requests ? requests().run(undefined, work) : work();
}
