import type {
  AccessToken,
  IssuanceLimit,
  ServiceAuth,
  ServiceAuthOptions,
  Store,
  Transport,
  Usage,
} from '@service-auth/core';
import { hour, second } from './judge/units.ts';
import type { CreateServiceAuth } from './parts.ts';

type Change = (createServiceAuth: CreateServiceAuth) => CreateServiceAuth;

/** Core with options that the judge doesn't know, with broken parts, or with other methods. */
export interface WrongClient {
  /** The mode in which it is seen. */
  readonly mode: string;
  /** The promises that the judge says are broken; others may be, too. */
  readonly breaks: readonly string[];
  readonly change: Change;
}

/** The options of a client in the simulator. */
type Options = ServiceAuthOptions & {
  readonly store: Store;
  readonly transport: Transport;
  readonly clock: NonNullable<ServiceAuthOptions['clock']>;
};
type Methods = Partial<Pick<ServiceAuth, 'getToken' | 'getUsage' | 'invalidate' | 'reset'>>;
type Windows = readonly { readonly tokens: number; readonly windowMs: number; readonly counts?: 'requests' }[];

const given =
  (change: (options: Options) => Partial<ServiceAuthOptions>): Change =>
  (createServiceAuth) =>
  (options) =>
    createServiceAuth({ ...options, ...change(options as Options) });

/** Other windows. */
const limited = (change: (windows: Windows) => Windows): Change =>
  given(({ issuanceLimit }) => {
    if (issuanceLimit === 'inherit') return {};
    const { reserve, windows, ...only } = issuanceLimit as { reserve?: number; windows?: Windows };
    return {
      issuanceLimit: {
        reserve,
        windows: change(windows ?? [{ windowMs: 24 * hour, ...only } as Windows[number]]),
      } as IssuanceLimit,
    };
  });

const times = (factor: number) =>
  limited((windows) => windows.map((window) => ({ ...window, tokens: Math.ceil(window.tokens * factor) })));

/** Another store in place of the one that the options have. */
const over = (change: (store: Store, options: Options) => Partial<Store>): Change =>
  given((options) => ({ store: { ...options.store, ...change(options.store, options) } }));

const through = (change: (transport: Transport, options: Options) => Transport): Change =>
  given((options) => ({ transport: change(options.transport, options) }));

const behaving =
  (change: (auth: ServiceAuth, options: Options) => Methods): Change =>
  (createServiceAuth) =>
  (options) => {
    const auth = createServiceAuth(options);
    const methods = new Map<PropertyKey, unknown>(Object.entries(change(auth, options as Options)));
    return new Proxy(auth, { get: (real, name) => methods.get(name) ?? Reflect.get(real, name, real) });
  };

/** `getToken()` rejects with another error. */
const failing = (change: (error: unknown, options: Options) => unknown): Change =>
  behaving((auth, options) => ({
    getToken: (asked) =>
      auth.getToken(asked).catch((error) => {
        throw change(error, options);
      }),
  }));

const after = ({ clock }: Options, ms: number) => new Promise<void>((resolve) => void clock.setTimer(resolve, ms));

/** One of so many calls does something else. */
function oneOf<Result>(calls: number, usual: () => Promise<Result>, other: () => Promise<Result>) {
  let called = 0;
  return () => {
    called += 1;
    return called % calls === 0 ? other() : usual();
  };
}

/** One of seven calls is refused. */
const refusing: Change = behaving((auth) => ({
  getToken: oneOf(
    7,
    () => auth.getToken(),
    () => Promise.reject(Object.assign(new Error('wrong'), { name: 'ServiceAuthError', code: 'ERR_STORE' })),
  ),
}));

/** Each breaks a promise, so they show that the judge can tell. */
export const wrongClients: Readonly<Record<string, WrongClient>> = {
  'three times the limit': {
    mode: 'faults',
    breaks: [
      'the limit is kept',
      'every purpose keeps to its share',
      'renewals caused by 401s are few',
      'the fleet backs off together',
    ],
    change: times(3),
  },
  'half the limit': {
    mode: 'faults',
    breaks: ['only an agreement of the fleet refuses a caller'],
    change: times(1 / 2),
  },
  'requests that are refused are free': {
    mode: 'requests',
    breaks: ['refused requests are in the limit'],
    change: limited((windows) => windows.map(({ counts: _, ...window }) => window)),
  },
  'a store that compares nothing': {
    mode: 'faults',
    breaks: ['the count covers every token'],
    change: over((store) => ({
      swap: async (key, change, options) => {
        for (;;) {
          const { version } = await store.load(key, options);
          const result = await store.swap(key, { ...change, expected: version }, options);
          if (result.swapped) return result;
        }
      },
    })),
  },
  'a store that confirms a swap that it lost': {
    mode: 'faults',
    breaks: ['the count covers every token', 'a late request is not sent'],
    change: over((store) => ({
      swap: async (key, change, options) => ({ ...(await store.swap(key, change, options)), swapped: true }),
    })),
  },
  'the clock of the process in place of that of the store': {
    mode: 'faults',
    breaks: ['the count covers every token'],
    change: over((store, { clock }) => ({
      load: async (key, options) => ({ ...(await store.load(key, options)), now: clock.now() }),
      swap: async (key, change, options) => ({ ...(await store.swap(key, change, options)), now: clock.now() }),
    })),
  },
  'a clock that does not notice sleep': {
    mode: 'sleep',
    breaks: ['every served token has life left'],
    change: given(({ clock }) => ({ clock: { ...clock, now: () => clock.monotonic() } })),
  },
  'a transport that sends each request twice': {
    mode: 'faults',
    breaks: ['the count covers every token', 'the limit is kept'],
    change: through((transport) => async (request) => {
      await transport(request).catch(() => {});
      return transport(request);
    }),
  },
  'a transport that repeats what failed': {
    mode: 'faults',
    breaks: ['a fleet that fails asks rarely'],
    change: through((transport) => async (request) => {
      for (let repeats = 0; repeats < 30; repeats++) {
        const answer = await transport(request).catch(() => undefined);
        if (answer?.status === 200) return answer;
      }
      return transport(request);
    }),
  },
  'a transport that sends late': {
    mode: 'feasible',
    breaks: ['a late request is not sent', 'a token ends the row of deaths'],
    change: through((transport, options) => async (request) => {
      await after(options, 25 * second);
      return transport(request);
    }),
  },
  'a transport that says that nothing was sent': {
    mode: 'unsent',
    breaks: ['the count covers every token'],
    change: through((transport) => (request) => {
      return transport(request).catch(() => {
        throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED', syscall: 'connect' });
      });
    }),
  },
  'a request without credentials goes first': {
    mode: 'healthy',
    breaks: ['nothing is sent but token requests'],
    change: through((transport) => async (request) => {
      const { client_secret: _, ...body } = JSON.parse(request.body) as Record<string, string>;
      await transport({ ...request, body: JSON.stringify(body) });
      return transport(request);
    }),
  },
  'no Retry-After arrives': {
    mode: 'told',
    breaks: ['retry after is followed'],
    change: through((transport) => async (request) => ({ ...(await transport(request)), headers: {} })),
  },
  'the first secret for ever': {
    mode: 'feasible',
    breaks: ['everybody is served in the end'],
    change: given(({ clientSecret }) => {
      let first: string | undefined;
      const ask = async () => {
        first ??= typeof clientSecret === 'function' ? await clientSecret() : clientSecret;
        return first as string;
      };
      return { clientSecret: ask };
    }),
  },
  'a name that an answer gave': {
    mode: 'feasible',
    breaks: ['no text of an answer is stored', 'nothing published contains a secret'],
    change: given(() => ({ instance: 'canary_phrase' })),
  },
  'a key of its own for each process': {
    mode: 'healthy',
    breaks: ['one process asks for all', 'a healthy fleet needs few tokens'],
    change: given(({ instance }) => ({ storeKey: `${instance}`.padEnd(32, 'k') })),
  },
  'a process that remembers nothing': {
    mode: 'remembered',
    breaks: ['the limit is kept'],
    change: (createServiceAuth) => (options) => {
      const anew = () => createServiceAuth({ ...options, store: { ...(options.store as Store) } });
      return behaving(() => ({ getToken: (asked) => anew().getToken(asked) }))(createServiceAuth)(options);
    },
  },
  'the first token for ever': {
    mode: 'faults',
    breaks: [
      'every served token has life left',
      'a reset token is not used in its process',
      'a reset token is not used in the fleet',
    ],
    change: behaving((auth) => {
      let first: AccessToken | undefined;
      return {
        async getToken(asked) {
          first ??= await auth.getToken(asked);
          return first;
        },
      };
    }),
  },
  'the first usage for ever': {
    mode: 'faults',
    breaks: ['what is said to be available can be had'],
    change: (createServiceAuth) => {
      let first: Promise<Usage> | undefined;
      return behaving((auth) => ({
        getUsage() {
          first ??= auth.getUsage();
          return first;
        },
      }))(createServiceAuth);
    },
  },
  'a reset that ends nothing': {
    mode: 'feasible',
    breaks: ['a reset token is not used in its process'],
    change: behaving(() => ({ reset: async () => ({}) as never })),
  },
  'a 401 that nobody hears of': {
    mode: 'one-api',
    breaks: ['a revoked token is replaced'],
    change: behaving(() => ({ invalidate: async () => {} })),
  },
  'a call that never ends': {
    mode: 'feasible',
    breaks: ['every call ends'],
    change: behaving((auth) => ({
      getToken: oneOf(
        5,
        () => auth.getToken(),
        () => new Promise(() => {}),
      ),
    })),
  },
  'each call waits': {
    mode: 'feasible',
    breaks: [
      'no caller with a good token waits',
      'what is said to be available can be had',
      'a token ends the row of deaths',
    ],
    change: behaving((auth, options) => ({
      async getToken(asked) {
        await after(options, 20 * second);
        return auth.getToken(asked);
      },
    })),
  },
  'a call fails in spite of a good token': {
    mode: 'healthy',
    breaks: ['a good token is served', 'a healthy fleet denies no call'],
    change: refusing,
  },
  'a loop that stood still fails a call': {
    mode: 'late-loop',
    breaks: ['a loop that stood still is no failure'],
    change: refusing,
  },
  'a plain error': {
    mode: 'faults',
    breaks: ['every error is typed'],
    change: failing((error) => new Error(String(error))),
  },
  'an error with the secret': {
    mode: 'faults',
    breaks: ['nothing published contains a secret'],
    change: failing((error) => Object.assign(error as Error, { message: 'CANARY-secret-1' })),
  },
  'a rejection that nobody handles': {
    mode: 'faults',
    breaks: ['no rejection goes unhandled'],
    change: behaving((auth) => ({
      getToken(asked) {
        const answer = auth.getToken(asked);
        void answer.then(() => {});
        return answer;
      },
    })),
  },
  'a pause of ten hours': {
    mode: 'store-ahead',
    breaks: ['no pause outlives its clock'],
    change: failing((error, { clock }) => Object.assign(error as Error, { retryAt: clock.now() + 10 * hour })),
  },
};
