import { describe, expect, test, vi } from 'vitest';
import type { ServiceAuth } from '../src/index.ts';
import { createBed } from './support/bed.ts';

const methods = [
  'covers',
  'getToken',
  'peekToken',
  'invalidate',
  'reportAccepted',
  'reportBypass',
  'for',
  'reset',
  'retryNow',
  'getUsage',
  'subscribe',
  'close',
] as const;

describe('the methods of a client', () => {
  test('work without the client', async () => {
    const { client, clock, endpoint } = createBed();
    const { covers, getToken, peekToken, invalidate, reset, getUsage, close } = client();
    const token = await clock.until(getToken());
    expect(covers('https://api.example.com/orders')).toBe(true);
    expect(peekToken()).toBe(token);
    await invalidate(token);
    expect((await clock.until(getToken())).id).not.toBe(token.id);
    await reset();
    expect(peekToken()).toBeUndefined();
    expect(await getUsage()).toMatchObject({ used: 2 });
    await close();
    await expect(getToken()).rejects.toThrow('closed');
    expect(endpoint.requests.length).toBe(2);
  });

  test('are part of an object that the client is spread into', async () => {
    const { client, clock } = createBed();
    const auth: ServiceAuth = client();
    const copy = { ...auth, name: 'orders' };
    expect(Object.keys(copy).toSorted()).toEqual([...methods, 'baseUrl', 'name'].toSorted());
    expect(await clock.until(copy.getToken())).toBe(auth.peekToken());
    await copy[Symbol.asyncDispose]();
    await expect(auth.getToken()).rejects.toThrow('closed');
  });

  test.each(methods)('%s can be replaced in a test, and watched', async (name) => {
    const { client } = createBed();
    const auth = client();
    const replaced = vi.fn();
    Object.assign(auth, { [name]: replaced });
    (auth[name] as () => unknown)();
    expect(replaced).toHaveBeenCalledOnce();
    const other = client();
    const watched = vi.spyOn(other, name).mockReturnValue(undefined as never);
    (other[name] as () => unknown)();
    expect(watched).toHaveBeenCalledOnce();
  });

  test('show nothing of the client that is not public', () => {
    const { client } = createBed();
    expect(new Set(Reflect.ownKeys(client()))).toEqual(new Set([...methods, 'baseUrl', Symbol.asyncDispose]));
  });
});
