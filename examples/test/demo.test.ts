import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test('the demo shows, without a terminal, every act and what the service counted in it', async () => {
  const file = fileURLToPath(new URL('../demo/index.ts', import.meta.url));
  const inherited = Object.entries(process.env).filter(([name]) => !/^(SERVICE_|NODE_(?!COMPILE_CACHE))/.test(name));
  const options = ['--conditions=@service-auth/source', '--disable-warning=ExperimentalWarning', file];
  const env = Object.fromEntries(inherited);
  const { stdout, stderr } = await promisify(execFile)(process.execPath, options, { env });
  expect(stderr).toBe('');
  const controls = [...stdout].filter((character) => character < ' ' && character !== '\n');
  expect(controls).toEqual([]);
  const results = stdout.split('\n').filter((line) => line.startsWith('   ✓ '));
  expect(results.map((line) => line.slice(5).replace(/^(8 processes, 10 starts), [\d,]+/, '$1, N'))).toEqual([
    '10,000 callers have a token. Requests to the token endpoint: 1.',
    'The API received 2,000 requests with a valid token. Tokens issued: 1.',
    expect.stringMatching(/^The API answered 401 \d+ times, the app got 200 each time\. Tokens issued: 2\.$/),
    'The app got 401 1,000 times, which cost 0 tokens: such renewals are spaced 1, 2, 4 … 60 minutes.',
    'The endpoint never had to refuse: it counted 110 issued, 0 refused. Existing tokens keep working (200).',
    '8 processes, 10 starts, N requests, 0 of them without a valid token. Tokens issued: 1.',
  ]);
  // The picture of the last act and its result count the same requests.
  const counts = [...(stdout.split('8 processes share').at(-1) ?? '').matchAll(/([\d,]+) requests,/g)];
  expect(counts.map(([, count]) => count)).toEqual([counts[0]?.[1], counts[0]?.[1]]);
}, 90_000);
