import { expect, test } from 'vitest';
import { isDirect } from '../src/exchange.ts';

test.each([
  'http://localhost',
  'HTTP://LocalHost/x',
  'http://localhost:8080/x',
  'http://localhost?x',
  'http://localhost#x',
  'http://127.0.0.1',
  'http://127.12.255.1:80/x',
  'http://127.1:8080/x',
  'http://[::1]/x',
])('%s needs no proxy, and none may read it', (url) => {
  expect(isDirect({}, url)).toBe(true);
  expect(isDirect({ proxy: { host: 'proxy.example', port: 3128 } }, url)).toBe(false);
});

test.each([
  'https://localhost/x',
  'http://localhost.example/x',
  'http://127.0.0.1.example/x',
  'http://api.example/?to=http://localhost/x',
  'http://[::2]/x',
])('%s may need a proxy', (url) => expect(isDirect({}, url)).toBe(false));
