import { expect, test } from 'vitest';
import { answerTimeOf } from '../src/answer-time.ts';

const date = 'Sun, 22 Nov 2026 21:09:57 GMT';
const time = Date.UTC(2026, 10, 22, 21, 9, 57);

type Middleware = (next: () => Promise<object>) => () => Promise<object>;

test('the time of a command is that of its latest answer', async () => {
  let middleware: Middleware = (next) => next;
  const now = answerTimeOf({
    middlewareStack: {
      add(added) {
        middleware = added;
      },
    },
  });
  expect(now).toThrow('no Date header');
  const result = { response: { headers: { date }, statusCode: 400 } };
  expect(await middleware(async () => result)()).toBe(result);
  expect(now()).toBe(time);
  await middleware(async () => ({ response: {} }))();
  expect(now).toThrow('no Date header');
});
