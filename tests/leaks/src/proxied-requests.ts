// Sends one request to an API on loopback with each client. Argument: the origin. The path of each request names its client.
import { attachServiceAuth } from '@service-auth/axios';
import { createServiceAuth } from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';
import { serviceAuth } from '@service-auth/got';
import { serviceAuthInterceptor } from '@service-auth/undici';
import axios, { type AxiosRequestConfig } from 'axios';
import got from 'got';
import { Agent, type Dispatcher, getGlobalDispatcher, request } from 'undici';

const [origin = ''] = process.argv.slice(2);
const baseUrl = `${origin}/api`;
const authUrl = `${origin}/token`;
const auth = createServiceAuth({ authUrl, baseUrl, audience: 'orders', clientId: 'client', clientSecret: 'secret' });

function withAxios(path: string, defaults: AxiosRequestConfig): Promise<unknown> {
  const instance = axios.create(defaults);
  attachServiceAuth(instance, auth);
  return instance.get(`${baseUrl}/${path}`);
}

function withUndici(path: string, dispatcher: Dispatcher): Promise<unknown> {
  return request(`${baseUrl}/${path}`, { dispatcher: dispatcher.compose(serviceAuthInterceptor(auth)) });
}

await createAuthFetch(auth)(`${baseUrl}/fetch`);
await withAxios('axios', {});
await withAxios('axios-fetch', { adapter: 'fetch' });
await got.extend(serviceAuth(auth))(`${baseUrl}/got`);
await withUndici('undici-agent', new Agent());
await withUndici('undici-global', getGlobalDispatcher());
process.exit();
