import { createService, type Service } from '../../../tests/protocol/src/service.ts';
import type { World } from '../../../tests/protocol/src/world.ts';

/** What the provider issues in a window. */
export interface Window {
  readonly tokens: number;
  readonly windowMs: number;
  /** `requests`: what the endpoint refused counts, too. */
  readonly counts: 'tokens' | 'requests';
}

/** The token endpoint and the API of one client. The endpoint counts, and enforces the limit. */
export interface Provider {
  /** Answers a token request of a process. */
  answer(body: string, process: string): { readonly status: number; readonly body: string };
  /** The answer of the API to a token. */
  status(token: string): 200 | 401;
  /** True: the API answers 401 to every token. */
  rejectsAll: boolean;
  readonly service: Service;
  /** The tokens to which the API answered 401. */
  readonly rejected: ReadonlySet<string>;
  readonly refused: number;
  /** What the endpoint counts now in a window. */
  countIn(window: Window): number;
  /** When the endpoint refused a token for the first time. */
  readonly refusedAt: number | undefined;
  /** When it did so for the first time because the limit of 24 hours was spent. */
  readonly lockedOutAt: number | undefined;
}

const dayMs = 86_400_000;

/** The credentials of both fleets. */
export const credentials = {
  audience: 'https://api.example.com/',
  clientId: 'client',
  clientSecret: 'secret of the example',
};

/** Creates the provider of a fleet. Its tokens live for `lifeMs`. */
export function createProvider(world: World, windows: readonly Window[], lifeMs: number): Provider {
  const service = createService(
    world,
    credentials.clientSecret,
    () => lifeMs,
    () => {},
  );
  const rejected = new Set<string>();
  const refusals: number[] = [];
  let refusedAt: number | undefined;
  let lockedOutAt: number | undefined;
  const countIn = ({ windowMs, counts }: Window): number => {
    const since = world.now - windowMs;
    const refused = counts === 'requests' ? refusals.filter((time) => time > since).length : 0;
    return service.issuedSince(since) + refused;
  };
  return {
    service,
    rejected,
    countIn,
    rejectsAll: false,
    answer(body, process) {
      const full = windows.filter((window) => countIn(window) >= window.tokens);
      if (full.length === 0) return service.receive(body, world.now, process);
      refusals.push(world.now);
      refusedAt ??= world.now;
      if (full.some(({ windowMs }) => windowMs === dayMs)) lockedOutAt ??= world.now;
      return { status: 429, body: '' };
    },
    status(token) {
      const status = this.rejectsAll ? 401 : service.status(token);
      if (status === 401) rejected.add(token);
      return status;
    },
    get refused() {
      return refusals.length;
    },
    get refusedAt() {
      return refusedAt;
    },
    get lockedOutAt() {
      return lockedOutAt;
    },
  };
}
