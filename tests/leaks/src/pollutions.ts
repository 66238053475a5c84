import { byDay } from '@service-auth/test-tools/night';

/** A property that somebody put on the prototype of all objects. */
export interface Pollution {
  readonly name: string;
  readonly value: unknown;
  readonly enumerable: boolean;
}

const evil = 'http://127.0.0.1:9/';
const anything = ['x', 1, true, {}, () => 'called'];

/** The members that the functions of the platform, and the clients, read from the objects that they are given. */
const members: Readonly<Record<string, readonly unknown[]>> = {
  // fetch and Request
  ...{ mode: ['no-cors', 'same-origin'], integrity: ['sha256-AAAA'], referrer: ['https://evil.example/?x'] },
  ...{ referrerPolicy: ['unsafe-url', 'x'], credentials: ['omit'], cache: ['no-store', 'only-if-cached'] },
  ...{ keepalive: [true], redirect: ['manual', 'error'], duplex: ['x'], dispatcher: ['x', {}], window: ['x'] },
  ...{ priority: ['x'], next: [{ revalidate: 1 }], url: [evil, 'http://localhost/covered'], clone: anything },
  ...{ href: [evil] },
  // node:http, and what clients make of their own options
  ...{ headers: [{ 'x-evil': '1' }, [['x-evil', '1']]], method: ['PUT'], host: ['127.0.0.1:9'] },
  ...{ hostname: ['127.0.0.1'], port: [9], path: ['/evil'], socketPath: ['/nowhere'], localAddress: ['127.0.0.9'] },
  ...{ lookup: ['x', () => 'called'], createConnection: anything, agent: [false, 'x'] },
  ...{ auth: ['user:password', { username: 'user', password: 'password' }], setHost: [false] },
  ...{ insecureHTTPParser: [true], maxHeaderSize: [1], family: [6], timeout: [1, 'x'], servername: ['evil.example'] },
  ...{ protocol: ['https:'], query: [{ evil: '1' }, 'evil'], search: ['?evil'], params: [{ evil: '1' }] },
  ...{ baseURL: [evil], allowAbsoluteUrls: [false], data: ['evil'], adapter: ['fetch', 'none'], transport: anything },
  ...{ proxy: [{ protocol: 'http', host: '127.0.0.1', port: 9 }], httpAgent: anything, beforeRedirect: anything },
  ...{ validateStatus: [() => false], transformRequest: [() => 'evil'], transformResponse: anything },
  ...{ paramsSerializer: anything, fetchOptions: [{ redirect: 'error' }], maxRedirects: [0], maxBodyLength: [1] },
  ...{ serviceAuth: [false], prefixUrl: [evil], form: [{ evil: '1' }], json: [{ evil: '1' }], searchParams: ['evil'] },
  ...{ context: [{ serviceAuth: false }], isStream: [true], retry: [0], hooks: [{}], handlers: [[]] },
  ...{ idempotent: [false], blocking: [true], upgrade: ['evil'], reset: [true], throwOnError: [true] },
  // headers
  ...{ authorization: ['Basic eDp4'], Authorization: ['Basic eDp4'], 'x-evil': ['1'], toJSON: [() => 'evil'] },
  // descriptors of properties
  ...{ get: ['x'], set: ['x'], value: ['evil'], writable: [true], configurable: [true], enumerable: [true] },
  // our own functions
  ...{ follow: ['x', () => true], waitForToken: ['x'], attempt: [2] },
  // addEventListener
  ...{ once: [true], passive: [true] },
};

/** Each value as an assignment, and by night also as a careful library would put it there. */
export const pollutions: readonly Pollution[] = byDay(
  Object.entries(members).flatMap(([name, values]) =>
    values.flatMap((value) => [true, false].map((enumerable) => ({ name, value, enumerable }))),
  ),
  ({ enumerable }) => enumerable,
);
