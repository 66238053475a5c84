import { describe, expect, test } from 'vitest';
import { type AccessToken, createAccessToken } from '../../src/contract/access-token.ts';
import {
  acceptsToken,
  rejectsToken,
  replaceRejected,
  type SendWithTokenOptions,
  sendWithToken,
  settledToken,
} from '../../src/http/index.ts';
import type { TokenSource } from '../../src/index.ts';

const tokenNamed = (name: string) => createAccessToken(name, `jwt-${name}`, 0, 0);

/** A source that gives these tokens, one after the other, and the last one again. Remembers what it was told. */
function createSource(...names: string[]) {
  const rejected: string[] = [];
  const waits: unknown[] = [];
  const source: Pick<TokenSource, 'getToken' | 'invalidate'> = {
    async getToken(options) {
      waits.push(options);
      return tokenNamed((names.length > 1 ? names.shift() : names[0]) as string);
    },
    async invalidate({ id }) {
      rejected.push(id);
    },
  };
  return { source, rejected, waits };
}

/** A client that answers with these statuses. Remembers what it sent and what it freed. */
function createClient(...statuses: number[]) {
  const sent: string[] = [];
  const freed: number[] = [];
  const request: SendWithTokenOptions<number> = {
    async send({ id }: AccessToken, attempt) {
      sent.push(`${id} ${attempt}`);
      return statuses.shift() as number;
    },
    isRejected: (status) => status === 401,
    canResend: () => true,
    discard: (status) => freed.push(status),
  };
  return { request, sent, freed };
}

describe('sendWithToken', () => {
  test('sends a request once when its token is accepted', async () => {
    const { source, rejected, waits } = createSource('a', 'b');
    const { request, sent, freed } = createClient(200);
    expect(await sendWithToken(source, request)).toBe(200);
    expect({ sent, freed, rejected, waits }).toEqual({ sent: ['a 1'], freed: [], rejected: [], waits: [undefined] });
  });

  test('sends it again with another token, and frees the first answer before', async () => {
    const { source, rejected } = createSource('a', 'b');
    const { request, sent, freed } = createClient(401, 200);
    const freedBefore: number[] = [];
    const send: typeof request.send = (token, attempt) => {
      freedBefore.push(freed.length);
      return request.send(token, attempt);
    };
    expect(await sendWithToken(source, { ...request, send })).toBe(200);
    expect({ sent, freed, freedBefore, rejected }).toEqual({
      sent: ['a 1', 'b 2'],
      freed: [401],
      freedBefore: [0, 1],
      rejected: ['a'],
    });
  });

  test('reports a second rejection, and returns it', async () => {
    const { source, rejected } = createSource('a', 'b', 'c');
    const { request, sent, freed } = createClient(401, 401, 200);
    expect(await sendWithToken(source, request)).toBe(401);
    expect({ sent, freed, rejected }).toEqual({ sent: ['a 1', 'b 2'], freed: [401], rejected: ['a', 'b'] });
  });

  test('returns the 401 if there is no other token', async () => {
    const { source, rejected } = createSource('a');
    const { request, sent, freed } = createClient(401);
    expect(await sendWithToken(source, request)).toBe(401);
    expect({ sent, freed, rejected }).toEqual({ sent: ['a 1'], freed: [], rejected: ['a'] });
  });

  test('asks for no other token if the request cannot be sent again, but reports the first one', async () => {
    const { source, rejected, waits } = createSource('a', 'b');
    const { request, freed } = createClient(401);
    expect(await sendWithToken(source, { ...request, canResend: () => false })).toBe(401);
    expect({ freed, rejected, waits: waits.length }).toEqual({ freed: [], rejected: ['a'], waits: 1 });
  });

  test('frees the 401 if the wait for another token fails, and rejects with that failure', async () => {
    const { source, rejected } = createSource('a');
    const { request, freed } = createClient(401);
    const waits = [async () => tokenNamed('a'), () => Promise.reject(new Error('given up'))];
    const waitForToken = () => (waits.shift() as () => Promise<AccessToken>)();
    await expect(sendWithToken(source, { ...request, waitForToken })).rejects.toThrow('given up');
    expect({ freed, rejected }).toEqual({ freed: [401], rejected: ['a'] });
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('locked');
      },
    ],
    ['rejects', () => Promise.reject(new Error('locked'))],
  ])('goes on when freeing an answer %s', async (_, discard) => {
    const { source } = createSource('a', 'b');
    const { request } = createClient(401, 200);
    expect(await sendWithToken(source, { ...request, discard })).toBe(200);
  });

  test('waits for a promise of `isRejected`, for either attempt', async () => {
    const { source, rejected } = createSource('a', 'b', 'c');
    const { request, sent } = createClient(403, 403);
    const isRejected = async (status: number) => status === 403;
    expect(await sendWithToken(source, { ...request, isRejected })).toBe(403);
    expect({ sent, rejected }).toEqual({ sent: ['a 1', 'b 2'], rejected: ['a', 'b'] });
  });

  test('an answer that was rejected does not count as accepted, and a 401 that was not does not count as rejected', async () => {
    const accepted: string[] = [];
    const { source, rejected } = createSource('a', 'b');
    const reporting = { ...source, reportAccepted: ({ id }: AccessToken) => void accepted.push(id) };
    const { request } = createClient(200, 401);
    const isRejected = (status: number) => status === 200;
    const isAccepted = (status: number) => status < 400;
    expect(await sendWithToken(reporting, { ...request, isRejected, isAccepted })).toBe(401);
    expect({ accepted, rejected }).toEqual({ accepted: [], rejected: ['a'] });
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('no such field');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no such field'))],
  ])('frees the answer and rejects if `isRejected` %s, and reports nothing', async (_, isRejected) => {
    const { source, rejected } = createSource('a', 'b');
    const { request, sent, freed } = createClient(200);
    await expect(sendWithToken(source, { ...request, isRejected })).rejects.toThrow('no such field');
    expect({ sent, freed, rejected }).toEqual({ sent: ['a 1'], freed: [200], rejected: [] });
  });

  describe('with `follow`', () => {
    /** A client that follows the redirects among its answers itself. */
    function createFollower(...statuses: number[]) {
      const { request, ...seen } = createClient(...statuses);
      return { ...seen, request: { ...request, follow: (status: number) => status === 302 } };
    }

    test('sends each request that a redirect asks for with the same token, and frees the redirects', async () => {
      const { source, rejected } = createSource('a', 'b');
      const { request, sent, freed } = createFollower(302, 302, 200);
      expect(await sendWithToken(source, request)).toBe(200);
      expect({ sent, freed, rejected }).toEqual({ sent: ['a 1', 'a 1', 'a 1'], freed: [302, 302], rejected: [] });
    });

    test('sends only the last request again after a 401, and follows its redirects', async () => {
      const { source, rejected } = createSource('a', 'b');
      const { request, sent, freed } = createFollower(302, 401, 302, 401);
      expect(await sendWithToken(source, request)).toBe(401);
      expect({ sent, freed, rejected }).toEqual({
        sent: ['a 1', 'a 1', 'b 2', 'b 2'],
        freed: [302, 401, 302],
        rejected: ['a', 'b'],
      });
    });

    test('frees the redirect and rejects if it cannot be followed', async () => {
      const { source } = createSource('a');
      const { request, freed } = createClient(302);
      const follow = () => {
        throw new TypeError('no address');
      };
      await expect(sendWithToken(source, { ...request, follow })).rejects.toThrow('no address');
      expect(freed).toEqual([302]);
    });
  });

  test('rejects with the error of `send`', async () => {
    const { source, rejected } = createSource('a');
    const { request } = createClient();
    const send = () => Promise.reject(new Error('reset by peer'));
    await expect(sendWithToken(source, { ...request, send })).rejects.toThrow('reset by peer');
    expect(rejected).toEqual([]);
  });
});

describe('replaceRejected', () => {
  test('reports the rejection, and resolves with another token', async () => {
    const { source, rejected, waits } = createSource('b');
    const { signal } = new AbortController();
    expect((await replaceRejected(source, tokenNamed('a'), { signal }))?.id).toBe('b');
    expect({ rejected, waits }).toEqual({ rejected: ['a'], waits: [{ signal }] });
  });

  test('resolves with undefined if the token is still the same one, by its value', async () => {
    const { source, rejected } = createSource('a');
    expect(await replaceRejected(source, tokenNamed('a'))).toBeUndefined();
    expect(rejected).toEqual(['a']);
  });

  test('asks for no token if the request cannot be sent again', async () => {
    const { source, rejected, waits } = createSource('b');
    expect(await replaceRejected(source, tokenNamed('a'), { canResend: false })).toBeUndefined();
    expect({ rejected, waits }).toEqual({ rejected: ['a'], waits: [] });
  });
});

test('401 alone rejects the token', () => {
  expect([200, 302, 400, 401, 403, 407, 500].filter(rejectsToken)).toEqual([401]);
});

test('success and redirects show that the API accepted the token', () => {
  // 0 is the status that fetch shows of a redirect in a browser.
  expect([0, 101, 200, 204, 302, 304, 400, 401, 404, 500].filter(acceptsToken)).toEqual([200, 204, 302, 304]);
});

describe('the settled token', () => {
  const token = tokenNamed('1');

  test('the token of a promise is known from the second time on, once the promise is fulfilled', async () => {
    let resolve = (_: typeof token) => {};
    const promise = new Promise<typeof token>((fulfil) => {
      resolve = fulfil;
    });
    expect(settledToken(promise)).toBeUndefined();
    expect(settledToken(promise)).toBeUndefined();
    resolve(token);
    await promise;
    expect(settledToken(promise)).toBe(token);
    expect(settledToken(Promise.resolve(token))).toBeUndefined();
  });

  test('a promise that rejects stays unknown, and its error is for whoever waits for it', async () => {
    const promise = Promise.reject(new Error('no token'));
    expect(settledToken(promise)).toBeUndefined();
    await expect(promise).rejects.toThrow('no token');
    expect(settledToken(promise)).toBeUndefined();
  });

  test('a request is sent at once if the token of its promise is known', async () => {
    const promise = Promise.resolve(token);
    settledToken(promise);
    await promise;
    const sent: string[] = [];
    const auth = { getToken: () => promise, invalidate: async () => {} };
    const ending = sendWithToken(auth, {
      send: async ({ value }) => sent.push(value),
      isRejected: () => false,
      canResend: () => false,
      discard: () => {},
    });
    expect(sent).toEqual(['jwt-1']);
    await ending;
  });
});
