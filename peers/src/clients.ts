import { attachServiceAuth } from '@service-auth/axios';
import type { ServiceAuth } from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';
import { serviceAuth } from '@service-auth/got';
import { serviceAuthInterceptor } from '@service-auth/undici';
import axios from 'axios';
import got from 'got';
import { Agent, request } from 'undici';

/** A GET with the token, in the way of one HTTP client. Resolves with the status. */
export type Get = (url: string) => Promise<number>;

/** Every adapter there is, each attached to its client. */
export const clients: Readonly<Record<string, (auth: ServiceAuth, baseUrl: string) => Get>> = {
  axios(auth, baseURL) {
    const instance = axios.create({ baseURL, validateStatus: null });
    attachServiceAuth(instance, auth);
    return async (url) => (await instance.get(url)).status;
  },
  fetch(auth) {
    const authFetch = createAuthFetch(auth);
    return async (url) => (await authFetch(url)).status;
  },
  got(auth) {
    const client = got.extend(serviceAuth(auth), { throwHttpErrors: false });
    return async (url) => (await client.get(url)).statusCode;
  },
  undici(auth) {
    const dispatcher = new Agent().compose(serviceAuthInterceptor(auth));
    return async (url) => {
      const { statusCode, body } = await request(url, { dispatcher });
      await body.dump();
      return statusCode;
    };
  },
};
