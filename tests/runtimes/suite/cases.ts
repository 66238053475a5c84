import {
  type Clock,
  createServiceAuth,
  isServiceAuthError,
  memoryStore,
  type ServiceAuthErrorCode,
  type ServiceAuthOptions,
} from '@service-auth/core';
import { type RemoteService, startRemoteService } from './service.ts';

/** The place in which a case runs. */
export interface Place {
  /** The address of the process that runs test services. */
  readonly control: string;
  /** The text with which this runtime prints an object. */
  readonly print: (value: unknown) => string;
  /** True if an error of its fetch tells that nothing was sent. */
  readonly tellsUnsent: boolean;
  readonly waitUntil?: ServiceAuthOptions['waitUntil'];
}

/** One promise of core. Rejects when it is broken. */
interface RuntimeCase {
  readonly name: string;
  run(place: Place): Promise<void>;
}

/** The result of a case. */
export interface Result {
  readonly name: string;
  readonly problem?: string | undefined;
  /** Why it cannot pass here. It was tried, and did not. */
  readonly impossibleBecause?: string;
}

const hour = 3_600_000;

/** The promises of core, tested with web globals only, in every runtime that core supports. */
const cases: readonly RuntimeCase[] = [
  {
    name: 'a token request has the four fields, and the API accepts its token',
    async run(place) {
      const { auth, service } = await connect(place);
      const { authorization, value } = await auth.getToken();
      equal(authorization, `Bearer ${value}`);
      const response = await fetch(`${service.options.baseUrl}/api/v1/`, { headers: { authorization } });
      await response.text();
      equal(response.status, 200);
      const { issued, rejected } = await service.counts();
      equal([issued, rejected], [1, 0]);
    },
  },
  {
    name: 'a thousand calls, one after another, cost one request and return one promise',
    async run(place) {
      const { auth, service } = await connect(place);
      const first = await auth.getToken();
      for (let call = 0; call < 1_000; call += 1)
        if ((await auth.getToken()) !== first) throw new Error('another token');
      equal(auth.peekToken() === first, true);
      equal((await service.counts()).tokenRequests, 1);
    },
  },
  {
    name: 'a thousand callers at once cost one request',
    async run(place) {
      const { auth, service } = await connect(place);
      const tokens = await Promise.all(Array.from({ length: 1_000 }, () => auth.getToken()));
      equal(new Set(tokens.map(({ value }) => value)).size, 1);
      equal((await service.counts()).tokenRequests, 1);
    },
  },
  {
    name: 'clients that share a store share one token and one count',
    async run(place) {
      const store = memoryStore();
      const { auth, service } = await connect(place, { store, instance: 'first' });
      const other = createServiceAuth({ ...service.options, store, instance: 'second' });
      const token = await auth.getToken();
      equal((await other.getToken()).value, token.value);
      const { used, usable, issuances } = await other.getUsage();
      equal([used, usable, issuances[0]?.instance, issuances[0]?.id], [1, 120, 'first', token.id]);
      equal((await service.counts()).tokenRequests, 1);
    },
  },
  {
    name: 'what is stored is sealed: neither token nor secret, and of no use without the secret',
    async run(place) {
      const kept = memoryStore();
      let written = '';
      const store = {
        ...kept,
        swap: (key: string, change: Parameters<typeof kept.swap>[1]) => {
          written += `${key} ${change.record}\n`;
          return kept.swap(key, change);
        },
      };
      const { auth, service } = await connect(place, { store, storeKey: 'k'.repeat(32) });
      const { value, id } = await auth.getToken();
      equal(written.includes(id), true);
      equal(await service.findSecrets(written), []);
      const stranger = createServiceAuth({ ...service.options, store: kept, storeKey: 'K'.repeat(32) });
      equal((await stranger.getToken()).value === value, false);
    },
  },
  {
    name: 'a token that the API rejects is replaced, once',
    async run(place) {
      const { auth, service } = await connect(place);
      const rejected = await auth.getToken();
      await service.revoke(rejected.value);
      await Promise.all([auth.invalidate(rejected), auth.invalidate(rejected)]);
      const [first, second] = await Promise.all([auth.getToken(), auth.getToken()]);
      equal([first?.value === rejected.value, second?.value], [false, first?.value]);
      equal((await service.counts()).tokenRequests, 2);
    },
  },
  {
    name: 'a compromised token is no longer used by any process that shares the store',
    async run(place) {
      const clock = shiftedClock();
      const store = memoryStore({ clock });
      const { auth, service } = await connect(place, { store, clock });
      const other = createServiceAuth({ ...service.options, store, clock });
      const compromised = await auth.getToken();
      equal((await other.getToken()).id, compromised.id);
      await auth.reset();
      clock.shift(30_000);
      const tokens = await Promise.all([auth.getToken(), other.getToken()]);
      equal(
        tokens.map(({ id }) => id === compromised.id),
        [false, false],
      );
      equal((await service.counts()).tokenRequests, 2);
    },
  },
  {
    name: 'a caller that aborts gets its own reason, and other callers are not affected',
    async run(place) {
      const { auth, service } = await connect(place);
      await service.next({ delayMs: 300 });
      const controller = new AbortController();
      const reason = new Error('changed my mind');
      const aborted = auth.getToken({ signal: controller.signal });
      const other = auth.getToken();
      controller.abort(reason);
      equal((await failure(aborted)) === reason, true);
      equal((await other).value.length > 100, true);
      equal((await failure(auth.getToken({ signal: controller.signal }))) === reason, true);
      equal((await service.counts()).tokenRequests, 1);
    },
  },
  {
    name: 'the token may go to the base URL alone, however an address is spelt',
    async run(place) {
      const { auth } = await connect(place, { baseUrl: 'https://api.example.com/v1' });
      const inside = [
        'https://api.example.com/v1',
        'https://API.example.com:443/v1/a?b',
        'https://api.example.com/v1/..a',
      ];
      const outside = [
        'https://api.example.com/v2',
        'https://api.example.com/v1/../v2',
        'https://api.example.com/v1/%2e%2e/v2',
        'https://api.example.com/v1/..%2fv2',
        'https://api.example.com\\@evil.example/v1/',
        'https://api.example.com@evil.example/v1/',
        'https://api.example.com.evil.example/v1/',
        'http://api.example.com/v1/',
        ' https://api.example.com/v1/',
        '/v1/',
      ];
      equal(
        inside.filter((url) => !auth.covers(url)),
        [],
      );
      equal(
        outside.filter((url) => auth.covers(url)),
        [],
      );
    },
  },
  {
    name: 'the limit: nothing is sent beyond it, and the error says until when',
    async run(place) {
      const { auth, service } = await connect(place, { issuanceLimit: { tokens: 2, reserve: 0 } });
      await auth.getToken();
      await auth.reset();
      await auth.getToken();
      await auth.reset();
      const error = await typed(auth.getToken(), 'ERR_ISSUANCE_LIMIT');
      equal((error.retryAt ?? 0) > Date.now() + 24 * hour, true);
      equal((await service.counts()).tokenRequests, 2);
    },
  },
  {
    name: 'a token is renewed ahead of its expiry, and callers do not wait for it',
    async run(place) {
      const clock = shiftedClock();
      const { auth, service } = await connect(place, { clock });
      const first = await auth.getToken();
      clock.shift(22 * hour);
      // After this time the token is revalidated first; the next call starts the renewal.
      equal((await auth.getToken()).id, first.id);
      equal((await auth.getToken()).id, first.id);
      await until(async () => (await auth.getToken()).id !== first.id);
      equal((await service.counts()).tokenRequests, 2);
    },
  },
  {
    name: 'wrong credentials are reported without repeating them',
    async run(place) {
      const { auth, service } = await connect(place, { clientSecret: 'wrong-secret-0123456789' });
      const error = await typed(auth.getToken(), 'ERR_CREDENTIALS_REJECTED');
      equal([error.endpointStatus, error.oauthError], [401, 'invalid_client']);
      for (const text of [String(error), JSON.stringify(error), place.print(error), String(error.stack)]) {
        equal(text.includes('wrong-secret'), false);
      }
      await typed(auth.getToken(), 'ERR_CREDENTIALS_REJECTED');
      equal((await service.counts()).tokenRequests, 1);
    },
  },
  {
    name: 'an answer that takes too long is given up, and counted',
    async run(place) {
      const { auth, service } = await connect(place, { timeoutMs: 200 });
      await service.next({ delayMs: 1_000 });
      const error = await typed(auth.getToken(), 'ERR_TOKEN_ENDPOINT');
      equal([error.ambiguous, (await auth.getUsage()).used], [true, 1]);
    },
  },
  {
    name: 'an endpoint that cannot be reached costs nothing, where the runtime tells',
    async run(place) {
      const { auth, service } = await connect(place);
      await service.close();
      const { ambiguous } = await typed(auth.getToken(), 'ERR_TOKEN_ENDPOINT');
      const { used } = await auth.getUsage();
      equal([ambiguous, used], place.tellsUnsent ? [false, 0] : [true, 1]);
    },
  },
  {
    name: 'a redirect of the token endpoint is not followed',
    async run(place) {
      const { auth, service } = await connect(place);
      await service.next({ status: 307, headers: { location: `${service.options.authUrl}/oauth/token` }, body: '' });
      const error = await typed(auth.getToken(), 'ERR_TOKEN_ENDPOINT');
      equal([error.endpointStatus, error.ambiguous, (await service.counts()).tokenRequests], [307, false, 1]);
    },
  },
  {
    name: 'an answer that is no token, or too long, is refused',
    async run(place) {
      for (const [body, reason] of [
        ['<html>', 'not_json'],
        [`{"access_token":"${'a'.repeat(70_000)}"}`, 'too_large'],
      ] as const) {
        const { auth, service } = await connect(place);
        await service.next({ status: 200, body });
        equal((await typed(auth.getToken(), 'ERR_TOKEN_RESPONSE')).reason, reason);
      }
    },
  },
  {
    name: 'a token that is printed shows its id, never its value',
    async run(place) {
      const { auth, service } = await connect(place);
      const token = await auth.getToken();
      const texts = [String(token), JSON.stringify(token), place.print(token), place.print({ token })];
      for (const text of texts) equal(text.includes(token.id) || text.includes('[object'), true);
      equal(await service.findSecrets([...texts, place.print(auth)].join()), []);
    },
  },
  {
    name: 'after close() no token is served',
    async run(place) {
      const { auth } = await connect(place);
      await auth.getToken();
      await auth.close();
      equal(auth.peekToken(), undefined);
      await typed(auth.getToken(), 'ERR_CLOSED');
    },
  },
];

/** Runs the cases in turn and tells what became of them. */
export async function runCases(place: Place): Promise<Result[]> {
  const results: Result[] = [];
  for (const { name, run } of cases) {
    try {
      await run(place);
      results.push({ name });
    } catch (error) {
      results.push({ name, problem: String((error as Error).stack ?? error) });
    }
  }
  return results;
}

async function connect(place: Place, options: Partial<ServiceAuthOptions> = {}) {
  const service: RemoteService = await startRemoteService(place.control);
  const auth = createServiceAuth({ ...service.options, waitUntil: place.waitUntil, ...options });
  return { auth, service };
}

/** The clock of this machine, which can be set forward. */
export function shiftedClock(): Clock & { shift(ms: number): void } {
  let ahead = 0;
  return {
    now: () => Date.now() + ahead,
    monotonic: () => performance.now() + ahead,
    setTimer(callback, delayMs) {
      const timer = setTimeout(callback, delayMs);
      return () => clearTimeout(timer);
    },
    shift(ms) {
      ahead += ms;
    },
  };
}

/** Waits until a condition is true, for at most five seconds. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  for (const startedAt = Date.now(); !(await condition()); ) {
    if (Date.now() - startedAt > 5_000) throw new Error('waited five seconds without success');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function failure(promise: Promise<unknown>): Promise<unknown> {
  const outcome = await promise.then(
    () => 'fulfilled',
    (error: unknown) => ({ error }),
  );
  if (typeof outcome === 'string') throw new Error('did not reject');
  return outcome.error;
}

async function typed<Code extends ServiceAuthErrorCode>(promise: Promise<unknown>, code: Code) {
  const error = await failure(promise);
  if (!isServiceAuthError(error) || error.code !== code) throw new Error(`not ${code}, but ${error}`);
  return error as Extract<typeof error, { code: Code }>;
}

function equal(actual: unknown, expected: unknown): void {
  const [found, wanted] = [actual, expected].map((value) => JSON.stringify(value) ?? 'undefined');
  if (found !== wanted) throw new Error(`${found} is not ${wanted}`);
}
