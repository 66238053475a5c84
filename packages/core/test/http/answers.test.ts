import { expect, test } from 'vitest';
import { acceptsToken, rejectsToken } from '../../src/http/index.ts';

test('401 alone rejects the token', () => {
  expect([200, 302, 400, 401, 403, 407, 500].filter(rejectsToken)).toEqual([401]);
});

test('success and redirects show that the API accepted the token', () => {
  // 0 is the status that fetch shows of a redirect in a browser.
  expect([0, 101, 200, 204, 302, 304, 400, 401, 404, 500].filter(acceptsToken)).toEqual([200, 204, 302, 304]);
});
