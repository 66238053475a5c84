import { createAuthRefresh } from 'axios-auth-refresh';
import { requestToken } from '../contenders/request-token.ts';

/** Attaches it to an axios instance, with a token that the application keeps. */
export function attachAuthRefresh(instance, client) {
  let token;
  const refresh = async () => {
    token = (await requestToken(client)).value;
  };
  createAuthRefresh(instance, refresh);
  instance.interceptors.request.use(async (config) => {
    if (!token) await refresh();
    config.headers.set('Authorization', `Bearer ${token}`);
    return config;
  });
}
