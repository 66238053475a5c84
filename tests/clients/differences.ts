/** Tests that pass without ours and must fail with it. */
export interface Difference {
  readonly reason: string;
  readonly tests: readonly string[];
}

const gotInstance: readonly Difference[] = [
  {
    reason: 'They compare the hooks and handlers of an instance, and ours are among them.',
    tests: [
      'create › extend overwrites arrays with a deep clone',
      'create › hooks are merged on got.extend()',
      'merge-instances › default handlers are not duplicated',
      'pagination › `hooks` are not duplicated',
    ],
  },
  {
    reason:
      'got waits for a hook of `beforeError`, whatever it does, and the sham socket of the test fails in the meantime.',
    tests: ['timeout › connect timeout', 'timeout › secureConnect timeout'],
  },
];

const axiosInstance: readonly Difference[] = [
  {
    reason: 'It compares `axios.create`, which is wrapped to attach ours to what it creates.',
    tests: ['tests/unit/api.test.js > static api > should expose create as a named export'],
  },
];

/** By suite, and by what our client covers. */
export const differences: Readonly<
  Record<string, Readonly<Partial<Record<'foreign' | 'all', readonly Difference[]>>>>
> = {
  axios: {
    foreign: axiosInstance,
    all: [
      ...axiosInstance,
      {
        reason: 'They expect a request without `Authorization`.',
        tests: [
          'tests/unit/prototypePollution.test.js > Prototype Pollution Protection > http adapter gadgets > should not pick up Object.prototype.auth as an Authorization header',
          'tests/unit/adapters/http.test.js > supports http with nodejs > FormData > formDataHeaderPolicy > only copies content headers when formDataHeaderPolicy is content-only',
        ],
      },
      {
        reason:
          'With a token, a request to loopback takes no proxy of the environment: over plain http, the token stays on this machine.',
        tests: [
          'tests/unit/adapters/http.test.js > supports http with nodejs > should support proxy set via env var',
          'tests/unit/adapters/http.test.js > supports http with nodejs > should re-evaluate proxy on redirect when proxy set via env var',
          'tests/unit/adapters/http.test.js > supports http with nodejs > should use proxy for domains not in no_proxy',
          'tests/unit/adapters/http.test.js > supports http with nodejs > should support proxy auth from env',
        ],
      },
    ],
  },
  ky: {
    all: [
      {
        reason: 'A request with our token is sent again after a 401, so the test counts one more.',
        tests: ['hooks › afterResponse hook handles refresh endpoint returning 401'],
      },
    ],
  },
  got: {
    foreign: gotInstance,
    all: [
      ...gotInstance,
      {
        reason: 'They expect a request without `Authorization`: to other hosts too, which are covered here.',
        tests: [
          'hooks › afterResponse retryWithMergedOptions can explicitly omit generated authorization',
          'hooks › afterResponse retryWithMergedOptions removes explicit undefined headers on cross-origin retry',
          'hooks › afterResponse retryWithMergedOptions strips inherited url credentials after in-place cross-origin url mutation',
          'hooks › afterResponse retryWithMergedOptions strips sensitive headers after headers object reassignment on cross-origin retry',
          'hooks › afterResponse retryWithMergedOptions strips sensitive headers and body after in-place URL mutation',
          'hooks › afterResponse retryWithMergedOptions strips sensitive headers on cross-origin retry',
          'hooks › afterResponse retryWithMergedOptions supports string url values on cross-origin retry',
          'hooks › beforeRedirect hook can explicitly omit generated authorization',
          'hooks › beforeRequest hook can delete an explicit authorization header without restoring it',
          'hooks › beforeRequest hook can explicitly omit generated authorization',
          'hooks › beforeRequest hook can omit generated authorization for a single retry attempt',
          'hooks › beforeRequest hook omits authorization after deleting explicit authorization and changing URL credentials',
          'hooks › beforeRequest hook omits authorization for custom requests after deleting explicit override and changing credentials',
          'pagination › pagination can explicitly omit generated authorization on the next page',
          'pagination › removes explicit undefined headers when pagination navigates cross-origin',
          'pagination › strips inherited url credentials after in-place cross-origin url mutation when pagination reuses request options',
          'pagination › strips sensitive headers after headers object reassignment when pagination reuses mutated request options cross-origin',
          'pagination › strips sensitive headers and body when pagination reuses mutated request options cross-origin',
          'pagination › strips sensitive headers when pagination navigates cross-origin',
          'pagination › supports string url values when pagination navigates cross-origin',
          'redirects › clears credentials and sensitive headers when redirecting to a different protocol on the same hostname',
          'redirects › clears the authorization header when redirecting to a different hostname',
          'redirects › clears username and password when redirecting to a different hostname',
          'redirects › strips both user-supplied and Location-embedded credentials on cross-origin redirect',
          'redirects › strips credentials embedded in cross-origin redirect Location URL',
          'redirects › strips credentials embedded in cross-origin redirect Location URL on 307',
          'redirects › strips sensitive headers when beforeRedirect hook changes URL to a different origin',
          'redirects › strips sensitive headers when beforeRedirect hook mutates the existing URL to a different origin',
          'redirects › strips sensitive headers when beforeRedirect hook reassigns headers object without reapplying them',
          'retry › createRetryStream preserves explicit header omissions after undefined header pruning',
          'retry › createRetryStream preserves header omission from direct header mutation',
          'retry › createRetryStream preserves mixed-case header omission from direct header mutation',
          'stream › headers omitted by mutating stream options are not backfilled by piped headers',
          'stream › mixed-case headers omitted by mutating stream options are not backfilled by piped headers',
          'unix-socket › pagination strips sensitive headers when moving to a different UNIX socket',
          'unix-socket › retryWithMergedOptions strips sensitive headers when moving to a different UNIX socket',
        ],
      },
      {
        reason:
          "The answer to a request with a token isn't stored in got's cache, because got would store the token with it.",
        tests: [
          'cache › QuickLRU works as cache adapter (auto-wrapped)',
          'cache › `isFromCache` stream property is true if the response was cached',
          'cache › beforeCache hook: conditionally prevent caching based on status code',
          'cache › beforeCache hook: errors are propagated',
          'cache › beforeCache hook: mixed hook results work correctly',
          'cache › beforeCache hook: modify cache-control headers',
          'cache › beforeCache hook: multiple hooks are executed in order',
          'cache › beforeCache hook: response body is correctly cached when hook returns undefined',
          'cache › beforeCache hook: returning undefined caches the original response correctly',
          'cache › beforeCache hook: returning void uses default caching',
          'cache › beforeCache hook: works with extended instances',
          'cache › cache error preserves `CacheError` code when underlying error has a code',
          'cache › cache error throws `CacheError`',
          'cache › cacheable responses are cached',
          'cache › cacheable responses to POST requests are cached',
          'cache › cached response ETag',
          'cache › cached response is re-encoded to current encoding option',
          "cache › can replace the instance's HTTP cache",
          'cache › decompresses cached responses',
          'cache › redirects are cached and re-used internally',
          'cache › revalidated compressed responses are retrieved from cache',
          'cache › revalidated uncompressed responses are retrieved from cache',
          'diagnostics-channel › diagnostics channel - cache hit detection',
        ],
      },
      {
        reason: 'Their own hook waits for a 401, but ours is first and sends the request again.',
        tests: [
          'hooks › afterResponse retryWithMergedOptions can explicitly omit generated cookieJar cookies',
          'hooks › afterResponse retryWithMergedOptions clears stale generated cookie when cookieJar is removed',
          'hooks › afterResponse retryWithMergedOptions ignores discarded cookie mutations when disabling cookieJar',
        ],
      },
    ],
  },
  undici: {
    all: [
      {
        reason: 'They compare the lines of a stack, and ours is on it.',
        tests: [
          'test/client-request.js > request dump with POJO as invalid signal',
          'test/client-request.js > request dump with abort signal',
          'test/client-request.js > request dump with aborted signal',
        ],
      },
      {
        reason:
          'They compare all headers: a request has the token, and its answer `vary: *`, so that no cache stores it.',
        tests: [
          'test/mock-agent.js > MockAgent - enableNetConnect should throw if dispatch not matched for headers and the origin was not allowed by net connect',
          'test/mock-agent.js > MockAgent - handle default reply headers',
          'test/mock-agent.js > MockAgent - headers function interceptor',
          'test/mock-agent.js > MockAgent - return calculated content-length for object response if specified',
          'test/mock-agent.js > MockAgent - return calculated content-length if specified',
          'test/mock-agent.js > MockAgent - using fetch yields a headers object in the reply callback',
          'test/redirect-request.js > should always have a history with the final URL even if no redirections were followed',
          'test/redirect-request.js > should follow redirection after a HTTP 300',
          'test/redirect-request.js > should follow redirection after a HTTP 300 default',
          'test/redirect-request.js > should follow redirection after a HTTP 301',
          'test/redirect-request.js > should follow redirection after a HTTP 302',
          'test/redirect-request.js > should follow redirection after a HTTP 303 changing method to GET',
          'test/redirect-request.js > should follow redirection after a HTTP 307',
          'test/redirect-request.js > should follow redirection after a HTTP 308',
          'test/redirect-request.js > should remove Host and request body related headers when following HTTP 303 (Global Headers)',
          'test/redirect-request.js > should remove Host and request body related headers when following HTTP 303 (Maps)',
          'test/redirect-request.js > should remove Host and request body related headers when following HTTP 303 (Undici Headers)',
          'test/redirect-request.js > should remove Host and request body related headers when following HTTP 303 (array)',
          'test/redirect-request.js > should remove Host and request body related headers when following HTTP 303 (object)',
          'test/redirect-request.js > should remove request body headers when HTTP 302 changes POST to GET',
          'test/redirect-stream.js > should always have a history with the final URL even if no redirections were followed',
          'test/redirect-stream.js > should follow redirection after a HTTP 300',
          'test/redirect-stream.js > should follow redirection after a HTTP 301 changing method to GET',
          'test/redirect-stream.js > should follow redirection after a HTTP 302',
          'test/redirect-stream.js > should follow redirection after a HTTP 303 changing method to GET',
          'test/redirect-stream.js > should follow redirection after a HTTP 307',
          'test/redirect-stream.js > should follow redirection after a HTTP 308',
          'test/redirect-stream.js > should remove Host and request body related headers when following HTTP 303 (array)',
          'test/redirect-stream.js > should remove Host and request body related headers when following HTTP 303 (object)',
        ],
      },
      {
        reason: 'It expects no token at another host, which is covered here.',
        tests: ['test/redirect-request.js > removes authorization header on third party origin'],
      },
    ],
  },
};
