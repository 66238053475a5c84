import type { DurableObjectNamespace, KVNamespace } from '@cloudflare/workers-types';
import { createServiceAuth } from '@service-auth/core';
import { startTestService, storeContract } from '@service-auth/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type DurableObjectNamespaceLike, durableObjectStore, type ServiceAuthStore } from '../src/index.ts';
import { type Intercept, namespaceInNode } from './support/object-in-node.ts';

const change = { version: '1', record: 'record of 1' };
/** An error as the platform throws it. */
const platformError = (marks: object, message = 'of the platform') => Object.assign(new Error(message), marks);

/** A store whose first calls fail, one for each error, and the number of all calls. */
function failing(...errors: unknown[]) {
  const calls = vi.fn<Intercept>(() => {
    if (errors.length > 0) throw errors.shift();
  });
  return { store: durableObjectStore(namespaceInNode(calls)), calls };
}

describe('the contract of stores, with the class in this process', () => {
  const namespace = namespaceInNode();
  const cases = storeContract(async () => {
    const another = async () => durableObjectStore(namespace);
    return { store: await another(), another, close: async () => {} };
  });
  for (const { name, run } of cases) test(name, run);
});

describe('durableObjectStore()', () => {
  test('has one object for each record', async () => {
    const names: string[] = [];
    await using service = await startTestService();
    const store = durableObjectStore(namespaceInNode(({ name }) => void names.push(name)));
    await using auth = createServiceAuth({ ...service.options, store });
    await using other = createServiceAuth({ ...service.options, clientId: 'another client', store });
    await Promise.all([auth.getToken(), other.getToken().catch(() => {})]);
    expect(new Set(names).size).toBe(2);
  });

  test('gives the hint for the location of a new object, and none by default', async () => {
    const options: unknown[] = [];
    const namespace = namespaceInNode((call) => void options.push(call.options));
    await durableObjectStore(namespace, { locationHint: 'weur' }).load('key');
    await durableObjectStore(namespace).load('key');
    expect(options).toEqual([{ locationHint: 'weur' }, undefined]);
  });

  test.each([
    [
      'Workers KV',
      { get() {}, put() {}, getWithMetadata() {} },
      /^\[service-auth\/cloudflare\] Workers KV .* no compare-and-swap/,
    ],
    [
      'undefined',
      undefined,
      /such as env\.SERVICE_AUTH\. It got undefined: list the binding under durable_objects in wrangler\.jsonc/,
    ],
    ['what has no get()', { idFromName() {} }, /It got object\.$/],
    ['a name', 'SERVICE_AUTH', /takes the binding of a Durable Object.* It got string\.$/],
  ])('%s is refused at once, with the reason', (_, namespace, words) => {
    expect(() => durableObjectStore(namespace as never)).toThrow(TypeError);
    expect(() => durableObjectStore(namespace as never)).toThrow(words);
  });

  test('the compiler takes the namespace of the platform, and refuses Workers KV', () => {
    const compiled = (
      objects: DurableObjectNamespace<ServiceAuthStore>,
      untyped: DurableObjectNamespace,
      kv: KVNamespace,
    ) => {
      durableObjectStore(objects);
      durableObjectStore(objects.jurisdiction('eu'), { locationHint: 'weur' });
      durableObjectStore(untyped);
      // @ts-expect-error: Workers KV cannot keep a count.
      durableObjectStore(kv);
    };
    expect(compiled).toBeTypeOf('function');
  });
});

describe('a call that fails', () => {
  test.each([
    ['the connection was lost', { retryable: true }],
    ['a deployment restarted the object', { durableObjectReset: true }],
  ])('is tried again when %s', async (_, marks) => {
    const { store, calls } = failing(platformError(marks), platformError(marks));
    expect(await store.swap('key', change)).toMatchObject({ swapped: true });
    expect(calls).toHaveBeenCalledTimes(3);
  });

  test('is tried six times at most, and then says where the reason is', async () => {
    const { store, calls } = failing(...Array.from({ length: 10 }, () => platformError({ retryable: true })));
    await expect(store.load('key')).rejects.toMatchObject({
      name: 'DurableObjectError',
      message: 'of the platform',
      advice: expect.stringContaining('wrangler tail'),
    });
    expect(calls).toHaveBeenCalledTimes(6);
  });

  test.each([
    ['Overloaded', platformError({ overloaded: true, retryable: true }), /at the level of the module/],
    [
      'NoSqlite',
      platformError({ durableObjectReset: true }, 'SQL is not enabled for this class.'),
      /new_sqlite_classes/,
    ],
    ['WrongObject', platformError({}, 'Handler does not export a fetch() function.'), /ServiceAuthStore/],
    ['DurableObjectError', platformError({}, 'string or blob too big: SQLITE_TOOBIG'), /wrangler tail/],
    ['DurableObjectError', undefined, /wrangler tail/],
  ])('as %s is not tried again, and says what to do', async (name, error, advice) => {
    const { store, calls } = failing(error);
    await expect(store.swap('key', change)).rejects.toMatchObject({ name, advice: expect.stringMatching(advice) });
    expect(calls).toHaveBeenCalledOnce();
  });

  test.each(['<html>', 'null', '{"now":"1"}'])('because another class answers %s says so', async (text) => {
    const store = durableObjectStore(namespaceInNode(() => new Response(text)));
    await expect(store.load('key')).rejects.toMatchObject({ name: 'WrongObject' });
  });

  test('because the Worker of the class does not run says so', async () => {
    const stranger = () => new Response('Worker "orders" not found. Make sure it is running locally.', { status: 503 });
    const store = durableObjectStore(namespaceInNode(stranger));
    const advice = expect.stringMatching(/script_name.* wrangler dev -c/);
    await expect(store.load('key')).rejects.toMatchObject({ name: 'NotRunning', advice });
  });

  test('ends with the reason of its signal, also while it pauses', async () => {
    const controller = new AbortController();
    const reason = new Error('the deadline');
    const { store, calls } = failing(...Array.from({ length: 10 }, () => platformError({ retryable: true })));
    calls.mockImplementationOnce(() => {
      // The pause begins after this turn.
      setImmediate(() => controller.abort(reason));
      throw platformError({ retryable: true });
    });
    await expect(store.load('key', controller)).rejects.toBe(reason);
  });

  test('ends at once when its signal aborts during a pause', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers().restoreAllMocks());
    vi.spyOn(Math, 'random').mockReturnValue(0.9);
    const controller = new AbortController();
    const { store } = failing(platformError({ retryable: true }));
    const call = expect(store.load('key', controller)).rejects.toThrow('the deadline');
    await vi.advanceTimersByTimeAsync(0);
    expect(vi.getTimerCount()).toBe(1);
    controller.abort(new Error('the deadline'));
    await call;
    expect(vi.getTimerCount()).toBe(0);
  });

  test('tells callers of core what to do, and nothing that the platform said', async () => {
    await using service = await startTestService();
    const { store } = failing(...Array.from({ length: 4 }, () => platformError({ overloaded: true }, 'a secret')));
    await using auth = createServiceAuth({ ...service.options, store });
    const error = await auth.getToken().catch((error: Error) => error);
    expect(error).toMatchObject({
      code: 'ERR_STORE',
      message: expect.stringMatching(/Overloaded.*level of the module/),
    });
    expect(String(error)).not.toContain('a secret');
  });
});

test('the store names itself in messages', () => {
  const namespace: DurableObjectNamespaceLike = namespaceInNode();
  expect(durableObjectStore(namespace)).toMatchObject({ name: 'Durable Object', durability: 'durable' });
});
