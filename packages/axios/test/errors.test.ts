import { Agent } from 'node:http';
import { types } from 'node:util';
import { isServiceAuthError, ServiceAuthError } from '@service-auth/core';
import { createAuth, startService } from '@service-auth/test-support/service';
import { describe, expect, test } from 'vitest';
import { attachServiceAuth } from '../src/index.ts';
import { copies } from './copies.ts';
import { createInstance, rejectionOf } from './instance.ts';

type Failure = ServiceAuthError & { readonly config: { readonly url?: string }; error: unknown };

describe.each(Object.entries(copies))('an error of ours with %s', (_, axios) => {
  /** An instance whose requests get no token, because the token endpoint refuses the credentials. */
  async function connect() {
    const service = await startService();
    service.tokenEndpoint.always({ status: 401, body: '{"error":"invalid_client"}' });
    const auth = createAuth(service);
    return { auth, instance: createInstance(axios, service, auth) };
  }

  test('is one object for each request, with the configuration of that request', async () => {
    const { auth, instance } = await connect();
    const both = [rejectionOf(instance.get('/a')), rejectionOf(instance.get('/b'))];
    const [one, other] = (await Promise.all(both)) as [Failure, Failure];
    expect(one).not.toBe(other);
    expect([one.config.url, other.config.url]).toEqual(['/a', '/b']);
    const original = (await rejectionOf(auth.getToken())) as ServiceAuthError;
    for (const error of [one, other]) {
      expect(error).toBeInstanceOf(ServiceAuthError);
      expect([isServiceAuthError(error), types.isNativeError(error)]).toEqual([true, true]);
      expect(error).toMatchObject({ name: 'ServiceAuthError', code: 'ERR_CREDENTIALS_REJECTED' });
      expect(Object.keys(error)).toEqual(Object.keys(original));
      expect(error.stack).toContain(error.message);
    }
  });

  test("lets the application's interceptors read its configuration, and lets them replace it", async () => {
    const { instance } = await connect();
    instance.interceptors.response.use(undefined, (error) => {
      const { url } = error.config;
      error.config = { url: `${url} was seen` };
      throw error;
    });
    expect(await rejectionOf(instance.get('/a'))).toMatchObject({ config: { url: '/a was seen' } });
  });

  test('has nothing new to print, and what is new can be replaced', async () => {
    const { instance } = await connect();
    const error = (await rejectionOf(instance.get('/a'))) as Failure;
    const added = (['config', 'error', 'stack'] as const).map((name) => Object.getOwnPropertyDescriptor(error, name));
    expect(added).toMatchObject(Array(3).fill({ enumerable: false, configurable: true }));
    expect(added).toMatchObject([{ writable: true }, { set: expect.any(Function) }, { writable: true }]);
    expect(error.stack).toContain('serviceAuthError');
  });

  test('has a configuration that does not show the other requests of its agent', async () => {
    const { instance } = await connect();
    const httpAgent = new Agent();
    await rejectionOf(instance.get('/a', { httpAgent }));
    expect(Object.keys(httpAgent)).not.toContain('sockets');
  });

  test('is still there for those who set `error` to the body of the answer', async () => {
    const { instance } = await connect();
    const failure = (await rejectionOf(instance.get('/a'))) as Failure;
    failure.error = {};
    expect(failure.error).toBe(failure);
  });

  test('is that of the signal if a signal ended the wait', async () => {
    const { instance } = await connect();
    const error = await rejectionOf(instance.get('/a', { signal: AbortSignal.abort() }));
    expect(axios.isCancel(error)).toBe(true);
  });

  test('of another source stays as it is', async () => {
    const error = new Error('of another source');
    const service = await startService();
    const instance = axios.create({ baseURL: service.baseUrl });
    const source = { ...createAuth(service), peekToken: () => undefined, getToken: () => Promise.reject(error) };
    attachServiceAuth(instance, source);
    expect(await rejectionOf(instance.get('/'))).toBe(error);
    expect(Object.getOwnPropertyNames(error)).toEqual(['stack', 'message']);
  });
});
