// A Worker that runs one case of the contract in each request: the name of the case is the body. An answer of 200 means that it passed.
import { type OpenStore, storeContract } from '@service-auth/testing';
import { type DurableObjectNamespaceLike, durableObjectStore } from '../../src/index.ts';

export { ServiceAuthStore } from '../../src/index.ts';

interface Env {
  readonly SERVICE_AUTH: DurableObjectNamespaceLike;
}

export default {
  async fetch(request: Request, { SERVICE_AUTH }: Env): Promise<Response> {
    const open: OpenStore = async () => {
      const another = async () => durableObjectStore(SERVICE_AUTH);
      return { store: await another(), another, close: async () => {} };
    };
    const name = await request.text();
    const found = storeContract(open).find((each) => each.name === name);
    try {
      if (!found) throw new Error(`There is no case "${name}".`);
      await found.run();
      return Response.json({ name });
    } catch (error) {
      return new Response(error instanceof Error ? error.stack : String(error), { status: 500 });
    }
  },
};
