import { expect, test } from 'vitest';
import { createAccessToken } from '../../src/contract/access-token.ts';
import { sendWithToken, settledToken } from '../../src/http/index.ts';

const token = createAccessToken('1', 'jwt-1', 0, 0);

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
