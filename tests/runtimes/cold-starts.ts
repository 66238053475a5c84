import assert from 'node:assert/strict';
import { startTestService } from '@service-auth/testing';
import { startMiniflare } from './engines.ts';

/** Sends a request to one of the copies. */
export type Ask = (path: string, headers?: Record<string, string>) => Promise<Response>;

/**
 * Starts copies of a Worker, and sends a request to each at once. Every copy has an isolate, a module and a memory of its own, as copies in many
 * places have. They share the Durable Objects of the first one. Returns the number of issued tokens; throws unless every copy is served by one token.
 * `secrets` are bound besides the variables of the service. `then` runs before the copies end.
 */
export async function startCold(
  script: string,
  copies: number,
  secrets: Record<string, string>,
  then: (ask: Ask, env: Readonly<Record<string, string>>) => Promise<void>,
): Promise<number> {
  await using service = await startTestService();
  const names = Array.from({ length: copies }, (_, index) => `copy-${index}`);
  const workers = names.map((name) => ({
    name,
    modules: true,
    script,
    compatibilityDate: '2026-07-01',
    bindings: { ...service.env, ...secrets },
    durableObjects: { SERVICE_AUTH: { className: 'ServiceAuthStore', scriptName: names[0], useSQLite: true } },
  }));
  const miniflare = startMiniflare({ workers });
  try {
    await miniflare.ready;
    const started = await Promise.all(names.map((name) => miniflare.getWorker(name)));
    const answers = await Promise.all(started.map((worker) => worker.fetch('https://orders.example/')));
    const unserved = answers.filter(({ status }) => status !== 200);
    assert.equal(unserved.length, 0, `${unserved.length} of ${copies} copies answered ${unserved[0]?.status}`);
    const { issued, tokenRequests, apiRequests } = service.counts;
    assert.deepEqual({ issued, tokenRequests, apiRequests }, { issued: 1, tokenRequests: 1, apiRequests: copies });
    const [first] = started as [(typeof started)[number]];
    await then((path, headers = {}) => first.fetch(`https://orders.example${path}`, { headers }), { ...service.env });
    return issued;
  } finally {
    await miniflare.dispose();
  }
}
