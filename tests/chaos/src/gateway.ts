// A Worker that passes calls of other processes on to the Durable Object. The store under test runs inside the Worker.

import { type DurableObjectNamespaceLike, durableObjectStore } from '@service-auth/cloudflare';
import type { StoreChange } from '@service-auth/core';

export { ServiceAuthStore } from '@service-auth/cloudflare';

/** The body of a request. Without a change it is a load. */
export interface GatewayCall {
  readonly key: string;
  readonly change?: StoreChange;
}

export default {
  async fetch(request: Request, { SERVICE_AUTH }: { SERVICE_AUTH: DurableObjectNamespaceLike }): Promise<Response> {
    const { key, change } = (await request.json()) as GatewayCall;
    const store = durableObjectStore(SERVICE_AUTH);
    try {
      return Response.json(await (change ? store.swap(key, change) : store.load(key)));
    } catch (error) {
      return new Response((error as Error).name, { status: 500 });
    }
  },
};
