import { abortable } from '@service-auth/core/store';
import { usageJson } from '../report/usage-json.ts';
import { type Answer, empty, invalidRequest, json } from './answer.ts';
import type { Clients } from './fleet.ts';
import { metadataAnswer } from './metadata.ts';
import { type Entrance, type RequestHead, valuesOf } from './request-head.ts';
import { type DoorName, queryOf } from './routes.ts';
import { failureAnswer, plainTokenAnswer, tokenAnswer, unavailable } from './token-answer.ts';
import { audienceOf, invalidTarget, readTokenRequest } from './token-request.ts';

// The kubelet waits for a second.
const probeWaitsMs = 900;

interface AdmittedRequest {
  readonly head: RequestHead;
  readonly body: string;
  readonly entrance: Entrance;
  /** Aborts when the caller is gone. */
  readonly signal: AbortSignal;
}

export interface DoorsOptions {
  readonly clients: Clients;
  key(): string | undefined;
  /** True from the first signal on. */
  isEnding(): boolean;
  metrics(): Promise<{ readonly text: string; readonly type: string }>;
}

export type Answerer = (door: DoorName, request: AdmittedRequest) => Answer | Promise<Answer>;

export function createDoors({ clients, key, isEnding, metrics }: DoorsOptions): Answerer {
  const { audiences } = clients;

  /** Over the network, callers present the key: the client secret stays on this machine. */
  const expectedAt = (entrance: Entrance) => {
    const expected = clients.expected();
    return entrance === 'network' ? { ...expected, secret: key() ?? '' } : expected;
  };

  async function obtained(audience: string, signal: AbortSignal, form: typeof plainTokenAnswer): Promise<Answer> {
    try {
      const { token, leftMs } = await clients.kept(audience).get(signal);
      return form(token, leftMs, audience);
    } catch (error) {
      return failureAnswer(error, Date.now());
    }
  }

  const doors: Readonly<Record<DoorName, (request: AdmittedRequest) => ReturnType<Answerer>>> = {
    'token-endpoint'({ head, body, entrance, signal }) {
      const read = readTokenRequest(head, body, expectedAt(entrance), audiences);
      return read.answer ?? obtained(read.audience, signal, tokenAnswer);
    },
    token({ head, signal }) {
      const audience = audienceOf(queryOf(head.target).getAll('audience'), audiences);
      return audience === undefined ? invalidTarget() : obtained(audience, signal, plainTokenAnswer);
    },
    // The token is the fleet's. A client that ends must not take it from the others (RFC 7009
    // section 2.2).
    revoke: () => empty(200),
    metadata: ({ head }) => metadataAnswer(valuesOf(head, 'host')[0] ?? ''),
    async rejected({ body }) {
      const token = tokenIn(body);
      if (token === undefined) return invalidRequest('The body must be JSON: {"token": the token}.');
      await Promise.all(clients.all.map((kept) => kept.reject(token)));
      return empty(204);
    },
    async usage() {
      try {
        return json(200, usageJson(await clients.auth.getUsage()));
      } catch (error) {
        return failureAnswer(error, Date.now());
      }
    },
    async metrics() {
      const { text, type } = await metrics();
      return { status: 200, headers: { 'content-type': type, 'cache-control': 'no-store' }, body: text };
    },
    startup: () => json(200, { status: 'started' }),
    liveness: () => json(200, { status: 'alive' }),
    async readiness() {
      if (isEnding()) return unavailable(503, 'The server is ending.', 1_000);
      if (!(await withinProbe(clients))) return unavailable(503, 'The first token is under way.', 1_000);
      const isRefused = clients.all.some((kept) => kept.isRefused());
      return isRefused
        ? unavailable(503, 'There is no token, and callers are refused.', 5_000)
        : json(200, { status: 'ready' });
    },
  };
  return (door: DoorName, request: AdmittedRequest) => doors[door](request);
}

function withinProbe({ all }: Clients): Promise<boolean> {
  const tried = Promise.all(all.map((kept) => kept.tried)).then(() => true);
  return abortable(tried, AbortSignal.timeout(probeWaitsMs)).catch(() => false);
}

function tokenIn(body: string): string | undefined {
  try {
    const { token } = Object(JSON.parse(body)) as { token?: unknown };
    return typeof token === 'string' && token !== '' ? token : undefined;
  } catch {
    return undefined;
  }
}
