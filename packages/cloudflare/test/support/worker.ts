// A Worker as an application has it, whose requests are told what to do.
import { createServiceAuth, isServiceAuthError, type ServiceAuth, type StoreChange } from '@service-auth/core';
import { type DurableObjectNamespaceLike, durableObjectStore, ServiceAuthStore as Published } from '../../src/index.ts';
import type { DurableObjectStateLike } from '../../src/platform.ts';

/** Replaced when a test builds the Worker: another deployment has another text. */
declare const deployment: string;

/** The published class, and a way to have the platform restart it. */
export class ServiceAuthStore extends Published {
  readonly #state: DurableObjectStateLike & { abort(reason: string): void };
  readonly #createdAt = Date.now();

  constructor(state: DurableObjectStateLike & { abort(reason: string): void }) {
    super(state);
    this.#state = state;
  }

  override async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === '/abort') this.#state.abort('the platform restarts the object');
    if (pathname === '/created') return Response.json({ createdAt: this.#createdAt });
    return super.fetch(request);
  }
}

/** The class, bound without SQLite. */
export class WithoutSqlite extends Published {}

/** A class of another package. */
export class Other {
  async fetch(): Promise<Response> {
    return new Response('of another package');
  }
}

type Call = Readonly<Record<string, unknown>> & { readonly key: string };
type Bindings = Readonly<Record<string, DurableObjectNamespaceLike>>;

let shared: ServiceAuth | undefined;

const operations: Record<string, (call: Call, env: Bindings, waitUntil: (work: Promise<unknown>) => void) => unknown> =
  {
    deployment: () => deployment,
    load: ({ key, binding = 'SERVICE_AUTH' }, env) => storeOf(env, binding).load(key),
    swap: ({ key, change, binding = 'SERVICE_AUTH' }, env) => storeOf(env, binding).swap(key, change as StoreChange),
    /** The creation time of the instance that serves the key now. */
    created: ({ key }, env) => ask(env, key, '/created').then((response) => response.json()),
    /** Has the object restarted, while calls of it are under way. */
    async restart({ key, calls }, env) {
      const store = storeOf(env, 'SERVICE_AUTH');
      const loads = Array.from({ length: Number(calls) }, () => store.load(key));
      await ask(env, key, '/abort').catch(() => {});
      return (await Promise.all(loads)).length;
    },
    /** A token of a copy of its own, which has just started. */
    async fresh({ options }, env, waitUntil) {
      const store = storeOf(env, 'SERVICE_AUTH');
      const auth = createServiceAuth({ ...(options as Parameters<typeof createServiceAuth>[0]), store, waitUntil });
      return (await auth.getToken()).id;
    },
    async usage({ options }, env) {
      const store = storeOf(env, 'SERVICE_AUTH');
      return createServiceAuth({ ...(options as Parameters<typeof createServiceAuth>[0]), store }).getUsage();
    },
    /** Has the object of each key restarted. */
    async abort({ key }, env) {
      await ask(env, key, '/abort').catch(() => {});
    },
    async token({ options }, env, waitUntil) {
      const store = storeOf(env, 'SERVICE_AUTH');
      shared ??= createServiceAuth({ ...(options as Parameters<typeof createServiceAuth>[0]), store, waitUntil });
      return (await shared.getToken()).id;
    },
  };

function storeOf(env: Bindings, binding: unknown) {
  return durableObjectStore(env[String(binding)] as DurableObjectNamespaceLike);
}

async function ask(env: Bindings, key: string, path: string): Promise<Response> {
  const objects = env['SERVICE_AUTH'] as DurableObjectNamespaceLike;
  const response = await objects.get(objects.idFromName(key) as never).fetch(`https://object${path}`, {} as never);
  return response as Response;
}

export default {
  async fetch(
    request: Request,
    env: Bindings,
    context: { waitUntil(work: Promise<unknown>): void },
  ): Promise<Response> {
    const call = (await request.json()) as Call;
    const operation = operations[new URL(request.url).pathname.slice(1)];
    try {
      return Response.json({ result: await operation?.(call, env, (work) => context.waitUntil(work)) });
    } catch (error) {
      const { name, message, code, advice } = error as Error & { code?: string; advice?: string };
      return Response.json({ failure: { name, message, code, advice, isOurs: isServiceAuthError(error) } });
    }
  },
};
