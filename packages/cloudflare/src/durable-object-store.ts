import type { Store, StoreChange, StoreSnapshot, StoreSwapResult } from '@service-auth/core';
import { explained, isTransient, NotRunning, WrongObject } from './object-errors.ts';
import type { DurableObjectNamespaceLike, KeyValueNamespaceLike } from './platform.ts';

/**
 * A place near which the platform creates an object:
 * https://developers.cloudflare.com/durable-objects/reference/data-location/
 */
type LocationHint = 'wnam' | 'enam' | 'sam' | 'weur' | 'eeur' | 'apac' | 'oc' | 'afr' | 'me';

/** Options of {@link durableObjectStore}. */
export interface DurableObjectStoreOptions {
  /**
   * The region in which a new object is created. Default: near the Worker that calls it first. It
   * does not move an object that exists. `oc` is Oceania, `me` the Middle East.
   */
  locationHint?: LocationHint | undefined;
}

/** The compiler shows it, too. */
const whyNotWorkersKv =
  'Workers KV cannot keep a count: it has no compare-and-swap, and its reads are up to a minute old. Pass a Durable Object namespace.';

/**
 * The most attempts of a call. Before the last one, they have waited for 0.8 seconds at most: core
 * waits for 2 seconds or more.
 */
const maxAttempts = 6;
const firstPauseMs = 25;

/** A row of SQLite has at most 2 MB in a Durable Object, and a version takes a part of it. */
const maxRecordBytes = 1_900_000;

/**
 * Keeps records in Durable Objects, one object for each client id. All Workers that share a record
 * need the same namespace, and the same jurisdiction. The store's clock is the one of the object. A
 * call that the platform interrupts, such as at a deployment, is tried again until its signal
 * aborts. It is tried six times at most. Both methods reject if the object does not answer, gets
 * too many calls, or is not a {@link ServiceAuthStore}.
 * @param namespace the binding, such as `env.SERVICE_AUTH`. Workers KV is refused: it has no
 * compare-and-swap.
 * @throws TypeError if `namespace` is no Durable Object namespace
 */
export function durableObjectStore<Namespace extends DurableObjectNamespaceLike | KeyValueNamespaceLike>(
  namespace: Namespace & (Namespace extends KeyValueNamespaceLike ? typeof whyNotWorkersKv : unknown),
  { locationHint }: DurableObjectStoreOptions = {},
): Store {
  const objects = checked(namespace);
  const place = (locationHint && { locationHint }) as { locationHint?: never } | undefined;

  async function send(key: string, method: string, body: string | undefined, signal: AbortSignal | undefined) {
    // A stub stays broken after a failure, and belongs to the request that created it.
    const object = objects.get(objects.idFromName(key) as never, place);
    const init: RequestInit = { method, body: body ?? null, signal: signal ?? null };
    const response = await object.fetch('https://service-auth.internal/', init as never);
    return answerOf(response.status, await response.text());
  }

  async function call(key: string, signal: AbortSignal | undefined, change?: StoreChange): Promise<unknown> {
    const method = change ? 'PUT' : 'GET';
    const body = change && JSON.stringify(change);
    for (let attempt = 1; ; attempt += 1) {
      signal?.throwIfAborted();
      try {
        return await send(key, method, body, signal);
      } catch (error) {
        signal?.throwIfAborted();
        if (attempt === maxAttempts || !isTransient(error)) throw explained(error);
        await pause(Math.random() * firstPauseMs * 2 ** (attempt - 1), signal);
      }
    }
  }

  return {
    durability: 'durable',
    name: 'Durable Object',
    maxRecordBytes,
    load: async (key, { signal } = {}) => (await call(key, signal)) as StoreSnapshot,
    swap: async (key, change, { signal } = {}) => (await call(key, signal, change)) as StoreSwapResult,
  };
}

function checked(
  namespace: DurableObjectNamespaceLike | KeyValueNamespaceLike | undefined,
): DurableObjectNamespaceLike {
  const { idFromName, get, getWithMetadata } = Object(namespace);
  if (typeof idFromName === 'function' && typeof get === 'function') return namespace as DurableObjectNamespaceLike;
  const isKeyValue = typeof getWithMetadata === 'function';
  const missing = ': list the binding under durable_objects in wrangler.jsonc, also for this environment';
  throw new TypeError(
    isKeyValue
      ? `[service-auth/cloudflare] ${whyNotWorkersKv}`
      : `[service-auth/cloudflare] durableObjectStore(namespace) takes the binding of a Durable Object, such as env.SERVICE_AUTH. It got ${typeof namespace}${namespace === undefined ? missing : ''}.`,
  );
}

/**
 * Returns the answer of our class. Another class would have other answers, and `wrangler dev`
 * answers 503 in place of a Worker that does not run.
 */
function answerOf(status: number, text: string): unknown {
  try {
    const answer = JSON.parse(text);
    if (typeof answer?.now === 'number') return answer;
  } catch {}
  throw status >= 500 ? new NotRunning() : new WrongObject();
}

/** Resolves after `ms`, or as soon as `signal` aborts. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
}
