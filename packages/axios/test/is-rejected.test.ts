import { serviceUnavailable } from '@service-auth/core/http';
import { createAuth, startService } from '@service-auth/test-support/service';
import newestAxios, { type AxiosRequestConfig, type AxiosResponse, type AxiosStatic } from 'axios';
import { describe, expect, test } from 'vitest';
import { type AttachServiceAuthOptions, attachServiceAuth } from '../src/index.ts';
import { copies } from './copies.ts';
import { rejectionOf } from './instance.ts';

const expired = { status: 200, body: '{"error":"token_expired"}', headers: { 'content-type': 'application/json' } };

/** An instance of `axios` with its own defaults, a rule, and a token that the API has accepted. */
async function connect(
  axios: AxiosStatic,
  isRejected: AttachServiceAuthOptions['isRejected'],
  defaults: AxiosRequestConfig = {},
) {
  const service = await startService();
  const auth = createAuth(service);
  const instance = axios.create({ baseURL: `${service.baseUrl}/api/v1`, ...(defaults as object) });
  attachServiceAuth(instance, auth, { isRejected });
  const rejections = () => auth.events.filter(({ type }) => type === 'token_rejected').length;
  return { service, auth, instance, rejections };
}

describe.each(Object.entries(copies))('isRejected with %s', (_, axios) => {
  test('reads the parsed body of a 200 that says that the token expired', async () => {
    const { service, instance, rejections } = await connect(axios, ({ data }) => data.error === 'token_expired');
    service.api.next(expired);
    expect((await instance.get('/')).data).toMatchObject({ bearer: 'valid' });
    expect(service.counts).toMatchObject({ issued: 2, apiRequests: 2 });
    expect(rejections()).toBe(1);
  });

  test('reads what the transformations of the application make of the body', async () => {
    const transformResponse = [(data: string) => data.length, (length: number) => ({ length })];
    const rule = ({ data }: AxiosResponse) => data.length === expired.body.length;
    const { service, instance } = await connect(axios, rule, { transformResponse });
    service.api.next(expired);
    const { data } = await instance.get('/');
    expect(data.length).not.toBe(expired.body.length);
    expect(service.counts.apiRequests).toBe(2);
  });

  test('transforms no body that it does not read, and leaves the headers as they are', async () => {
    let runs = 0;
    const transformResponse = [
      (data: string) => {
        runs += 1;
        return data;
      },
    ];
    const rule = (response: AxiosResponse) => {
      response.headers['x-own'] = 'changed';
      return response.status === 403;
    };
    const { service, instance } = await connect(axios, rule, { transformResponse });
    service.api.next({ status: 403, headers: { 'x-own': 'kept' } }, { headers: { 'x-own': 'kept' } });
    expect((await instance.get('/')).headers).toMatchObject({ 'x-own': 'kept' });
    expect(runs).toBe(1);
  });

  test('gets a body that cannot be transformed as it is, and the call fails as without the rule', async () => {
    const seen: unknown[] = [];
    const rule = ({ data }: AxiosResponse) => {
      seen.push(data);
      return false;
    };
    const strict = { responseType: 'json', transitional: { silentJSONParsing: false } } as const;
    const { service, instance } = await connect(axios, rule, strict);
    service.api.next({ status: 200, body: 'no JSON' });
    expect(await rejectionOf(instance.get('/'))).toMatchObject({ name: 'SyntaxError', code: 'ERR_BAD_RESPONSE' });
    expect(seen).toEqual(['no JSON']);
  });

  test('does not get the body of a stream, which the caller can then read', async () => {
    const seen: unknown[] = [];
    const rule = ({ data, status }: AxiosResponse) => {
      seen.push(data);
      return status === 403;
    };
    const { service, instance, rejections } = await connect(axios, rule, { responseType: 'stream' });
    service.api.next({ status: 403 });
    const { data } = await instance.get('/');
    expect(await new Response(data).json()).toMatchObject({ bearer: 'valid' });
    expect(seen).toEqual([undefined, undefined]);
    expect(rejections()).toBe(1);
  });

  test('gets nothing that contains the token', async () => {
    const seen: AxiosResponse[] = [];
    const rule = (response: AxiosResponse) => {
      seen.push(response);
      return false;
    };
    const { service, instance } = await connect(axios, rule);
    await instance.get('/');
    const [{ status, config, request } = {} as AxiosResponse] = seen;
    expect({ status, url: config.url, request }).toEqual({ status: 200, url: '/', request: undefined });
    expect(service.findSecrets(JSON.stringify(seen[0]?.config))).toEqual([]);
  });

  test('says what the cause of an error is', async () => {
    const { service, instance } = await connect(axios, ({ status }) => status === 403);
    service.api.always({ status: 403 });
    const rejected = await rejectionOf(instance.get('/'));
    expect(rejected).toMatchObject({ response: { status: 403 }, cause: { code: 'ERR_TOKEN_REJECTED' } });
    expect(serviceUnavailable(rejected)).toMatchObject({ status: 503 });
    service.api.always({ status: 401 });
    expect(await rejectionOf(instance.get('/'))).not.toHaveProperty('cause');
  });

  test('fails the call with its own error, even with a TypeError', async () => {
    const { instance, rejections, service } = await connect(axios, ({ data }) => data.none.error);
    const error = await rejectionOf(instance.get('/'));
    expect(error).toBeInstanceOf(TypeError);
    expect(error).not.toHaveProperty('config');
    expect(rejections()).toBe(0);
    expect(service.counts.apiRequests).toBe(1);
  });
});

test('two clients of one instance have a rule each, and attaching one again changes nothing', async () => {
  const { service, auth, instance } = await connect(newestAxios, ({ status }) => status === 403);
  attachServiceAuth(instance, auth, { isRejected: () => false });
  const other = await startService();
  attachServiceAuth(instance, createAuth(other), { isRejected: ({ status }) => status === 400 });
  service.api.next({ status: 403 });
  other.api.next({ status: 400 });
  expect((await instance.get('/')).status).toBe(200);
  expect((await instance.get(`${other.baseUrl}/api/v1/`)).status).toBe(200);
  expect([service.counts.issued, other.counts.issued]).toEqual([2, 2]);
});

test('late answers to the first token cost one token, and all of them are about it', async () => {
  const { service, auth, instance } = await connect(newestAxios, ({ status }) => status === 403);
  const { id } = await auth.getToken();
  const paused = Array.from({ length: 5 }, () => service.api.pauseNext({ status: 403 }));
  const waiting = paused.map(() => instance.get('/'));
  await Promise.all(paused.map(({ arrived }) => arrived));
  for (const request of paused) {
    request.resume();
    await Promise.race(waiting);
  }
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect(service.counts.issued).toBe(2);
  const reported = auth.events.flatMap((event) => (event.type === 'token_rejected' ? [event.tokenId] : []));
  expect(new Set(reported)).toEqual(new Set([id]));
});

test('isRejected that is no function is refused at once', async () => {
  const auth = createAuth(await startService());
  const message = '[service-auth/axios] The option `isRejected` must be a function.';
  expect(() => attachServiceAuth(newestAxios.create(), auth, { isRejected: 403 as never })).toThrow(
    new TypeError(message),
  );
});
