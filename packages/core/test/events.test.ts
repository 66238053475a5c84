import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { createBed, failure, minute } from './support/bed.ts';
import { fails } from './support/faulty-store.ts';
import { answering } from './support/scripted-endpoint.ts';
import { watchForUnhandled } from './support/unhandled.ts';

test('every event says when it happened, for which audience and in which process', async () => {
  const { client, clock, token, events } = createBed();
  await token(client({ instance: 'worker 7' }));
  expect(events).toMatchObject([{ type: 'token_issued', at: clock.now(), audience: 'orders', instance: 'worker 7' }]);
});

test('a process without a name gets one', async () => {
  const { client, token, eventsOf } = createBed();
  const [one, two] = [client({ instance: undefined }), client({ instance: undefined, audience: 'invoices' })];
  await token(one);
  await token(two);
  const names = eventsOf('token_issued').map(({ instance }) => instance);
  expect(new Set(names).size).toBe(2);
  expect(names.every((name) => /^[\w-]{12}$/.test(name))).toBe(true);
});

test('a failed request is reported with what it means', async () => {
  const { client, clock, endpoint, eventsOf } = createBed();
  const refused = () => Promise.reject(Object.assign(new Error('x'), { code: 'ECONNREFUSED', syscall: 'connect' }));
  endpoint.next(answering(502), answering(401), refused);
  const auth = client();
  await failure('ERR_TOKEN_ENDPOINT', auth.getToken());
  await clock.advance(minute);
  await failure('ERR_CREDENTIALS_REJECTED', clock.until(auth.getToken()));
  expect(eventsOf('token_request_failed')).toMatchObject([
    { code: 'ERR_TOKEN_ENDPOINT', status: 502, ambiguous: true },
    { code: 'ERR_CREDENTIALS_REJECTED', status: 401, ambiguous: false, retryAt: clock.now() + 5 * minute },
  ]);
  await clock.advance(5 * minute);
  const error = await failure('ERR_TOKEN_ENDPOINT', clock.until(auth.getToken()));
  expect(error.message).toContain('did not answer (Error ECONNREFUSED). Nothing was counted.');
  expect(eventsOf('token_request_failed')[2]).toMatchObject({ status: undefined, error: 'Error ECONNREFUSED' });
});

test('a warning of the store is reported once, however often it is given', async () => {
  const { client, store, token, use, eventsOf } = createBed();
  const load: typeof store.load = async (key, options) => ({
    ...(await store.load(key, options)),
    warnings: ['no backup', 'eviction'],
  });
  const auth = client({ store: { ...store, load } });
  await token(auth);
  await use(auth, 5 * minute);
  expect(eventsOf('store_warning').map(({ warning }) => warning)).toEqual(['no backup', 'eviction']);
});

test('a flood of 401s to one token is reported once', async () => {
  const { client, token, eventsOf } = createBed();
  const auth = client();
  const first = await token(auth);
  for (let request = 0; request < 100; request++) await auth.invalidate(first);
  expect(eventsOf('token_rejected')).toMatchObject([{ tokenId: first.id, outcome: 'renew' }]);
});

const rejected = (): Promise<never> => Promise.reject(new Error('from the listener'));
class OtherPromise extends Promise<unknown> {}

test.each<[string, () => unknown]>([
  [
    'throws',
    () => {
      throw new Error('from the listener');
    },
  ],
  ['rejects', rejected],
  ['rejects in another realm', () => runInNewContext("Promise.reject(new Error('from the listener'))")],
  ['is async in another realm', runInNewContext("async () => { throw new Error('from the listener') }")],
  [
    'returns a promise whose then throws',
    () =>
      Object.assign(
        OtherPromise.reject(new Error('from the listener')),
        thenable(() => {
          throw new Error('from then');
        }),
      ),
  ],
  ['returns a thenable that rejects', () => thenable((_, reject) => reject(new Error('from the listener')))],
  [
    'returns a thenable whose then throws',
    () =>
      thenable(() => {
        throw new Error('from then');
      }),
  ],
  ['returns a thenable whose then is an async function that throws', () => thenable(rejected)],
  ['returns a thenable that resolves with a promise that rejects', () => thenable((resolve) => resolve(rejected()))],
  [
    'returns a thenable that resolves with itself',
    () => {
      const endless: object = thenable((resolve) => resolve(endless));
      return endless;
    },
  ],
  [
    'returns a thenable whose then rejects in another realm',
    () => runInNewContext("({ async then() { throw new Error('from then') } })"),
  ],
  [
    'returns what throws when it is asked for then',
    () =>
      Object.defineProperty({}, 'then', {
        get() {
          throw new Error('from the getter');
        },
      }),
  ],
  ['returns an object whose then is no function', () => thenable(1 as never)],
  ['returns null', () => null],
])('a listener that %s changes nothing', async (_, onEvent) => {
  const unhandled = watchForUnhandled();
  const { client, clock, store, token } = createBed();
  const auth = client({ onEvent: onEvent as () => void });
  expect((await token(auth)).value).toBeTruthy();
  await auth.invalidate(await auth.getToken());
  await token(auth);
  store.always('both', fails);
  await failure('ERR_STORE', clock.until(auth.getUsage()));
  expect(await unhandled()).toEqual([]);
});

function thenable(then: (resolve: (value?: unknown) => void, reject: (error: unknown) => void) => unknown): object {
  return { then };
}
