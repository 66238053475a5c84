import { Readable } from 'node:stream';
import { serviceAuth } from '@service-auth/got';
import got, { type Got } from 'got';
import { type CreateContenders, createCoverage, namedWays } from './target.ts';

const body = Buffer.from('{"orders":[]}');

/** The answer of node:http. */
function mock(): unknown {
  return Object.assign(Readable.from([body]), {
    statusCode: 200,
    headers: {},
    rawHeaders: [],
    trailers: {},
    complete: true,
  });
}

export const createContenders: CreateContenders = async ({ client, isMock, token, auth, handwritten }) => {
  const base = isMock
    ? got.extend({ request: mock as never, retry: { limit: 0 } })
    : got.extend({ retry: { limit: 0 } });
  const withHeader = () => base.extend({ headers: { authorization: `Bearer ${token}` } });
  const intercepted = base.extend({
    hooks: {
      beforeRequest: [
        async (options) => {
          options.headers['authorization'] = `Bearer ${await handwritten.getToken()}`;
        },
      ],
    },
  });
  const covers = createCoverage(client.apiUrl);
  const careful = base.extend({
    hooks: {
      beforeRequest: [
        async (options) => {
          if (!covers(String(options.url))) return;
          const value = await handwritten.getToken();
          options.headers['authorization'] = { toString: () => `Bearer ${value}` } as never;
        },
      ],
      afterResponse: [
        (response, retryWithMergedOptions) => {
          if (response.statusCode !== 401 || response.request.options.context['isSecond']) return response;
          handwritten.forget();
          return retryWithMergedOptions({ context: { isSecond: true } });
        },
      ],
    },
  });
  const ours = base.extend(serviceAuth(auth));
  const instances = namedWays<Got>('got', { withHeader, handwritten: intercepted, careful, ours });
  return Object.entries(instances).map(([name, instance]) => ({ name, run: () => instance.get(client.apiUrl) }));
};
