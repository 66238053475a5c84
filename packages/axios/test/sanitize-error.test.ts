import { inspect } from 'node:util';
import { ServiceAuthError } from '@service-auth/core';
import { createAuth, startService } from '@service-auth/test-support/service';
import axios, { AxiosError } from 'axios';
import { describe, expect, test } from 'vitest';
import { sanitizeError } from '../src/index.ts';
import { createInstance, rejectionOf } from './instance.ts';

const jwt = 'eyJhbGciOiJSUzI1NiJ9.eyJqdGkiOiJ4In0.c2lnbmF0dXJl';

describe('sanitizeError', () => {
  test('keeps what tells what failed, and nothing else', async () => {
    const service = await startService();
    const instance = createInstance(axios, service, createAuth(service));
    service.api.always({ status: 404 });
    const error = (await rejectionOf(instance.put('/items?key=secret#x', { x: 1 }))) as AxiosError;
    const clean = sanitizeError(error);
    expect(clean).not.toBe(error);
    expect(clean).toBeInstanceOf(Error);
    expect({ ...clean, name: clean.name, message: clean.message }).toEqual({
      name: 'AxiosError',
      message: 'Request failed with status code 404',
      code: 'ERR_BAD_REQUEST',
      status: 404,
      method: 'PUT',
      url: `${service.baseUrl}/api/v1/items`,
    });
    expect(clean.stack).toBe(error.stack);
    expect(error.request).toBeDefined();
  });

  test('goes through the chain of causes, and does not go round in circles', async () => {
    const error = await rejectionOf(axios.get('http://user:password@127.0.0.1:1/?key=secret', { proxy: false }));
    const clean = sanitizeError(error);
    expect(clean).toMatchObject({ code: 'ECONNREFUSED', url: 'http://127.0.0.1:1/' });
    expect(clean.cause).toMatchObject({ code: 'ECONNREFUSED', message: 'connect ECONNREFUSED 127.0.0.1:1' });
    const circular = new Error('circular');
    circular.cause = circular;
    expect(inspect(sanitizeError(circular), { depth: Number.POSITIVE_INFINITY })).not.toContain('Circular');
    const chain = [];
    for (let error: unknown = sanitizeError(circular); error instanceof Error; error = error.cause) chain.push(error);
    expect(chain).toHaveLength(6);
  });

  test.each([
    [`Headers.append: "Bearer ${jwt}" is an invalid header value.`, 'Headers.append: "Bearer [removed]" is'],
    [`{"Authorization": "Basic dXNlcjpwYXNzd29yZA=="}`, '{"Authorization": "Basic [removed]"}'],
    ['Bearer  opaque-token', 'Bearer [removed]'],
    [`token ${jwt} refused`, 'token [removed] refused'],
    ['cannot reach https://user:pass@example.com/x', 'cannot reach https://[removed]@example.com/x'],
    ['bearer of bad news: a@b//c', 'bearer [removed] bad news: a@b//c'],
  ])('takes credentials out of messages: %s', (message, expected) => {
    const clean = sanitizeError(new AxiosError(message));
    expect(clean.message).toContain(expected);
    expect(clean.stack).toContain(expected);
    expect(sanitizeError(message).message).toContain(expected);
  });

  test('takes anything that can be thrown', () => {
    expect(sanitizeError(undefined).message).toBe('undefined');
    expect(sanitizeError(null).message).toBe('null');
    const clean = sanitizeError({ message: 'not an Error' });
    expect(clean).toMatchObject({ name: 'Error', message: 'not an Error' });
    expect(clean.stack).toContain('Error: not an Error');
    expect(Reflect.ownKeys(clean).sort()).toEqual(['message', 'name', 'stack']);
    expect(sanitizeError(Object.create(null)).message).toBe('');
    expect(sanitizeError(new TypeError('x')).name).toBe('TypeError');
    // The property is writable, as in every error, because loggers change it.
    expect(Object.getOwnPropertyDescriptor(clean, 'name')).toMatchObject({ configurable: true, writable: true });
    expect(sanitizeError(new AxiosError('x', undefined, { url: '/relative' } as never)).url).toBeUndefined();
  });

  test('returns a ServiceAuthError unchanged, because it contains no secret', () => {
    const error = new ServiceAuthError('ERR_CLOSED', 'closed');
    expect(sanitizeError(error)).toBe(error);
  });
});
