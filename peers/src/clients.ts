import { attachServiceAuth } from '@service-auth/axios';
import type { ServiceAuth } from '@service-auth/core';
import axios from 'axios';

/** A GET with the token, in the way of one HTTP client. Resolves with the status. */
export type Get = (url: string) => Promise<number>;

/** Every adapter there is, each attached to its client. */
export const clients: Readonly<Record<string, (auth: ServiceAuth, baseUrl: string) => Get>> = {
  axios(auth, baseURL) {
    const instance = axios.create({ baseURL, validateStatus: null });
    attachServiceAuth(instance, auth);
    return async (url) => (await instance.get(url)).status;
  },
};
