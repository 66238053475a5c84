import { serviceAuthInterceptor } from '@service-auth/undici';
import { Agent, Dispatcher, request } from 'undici';
import { loadPeerModule } from '../contenders/peers.ts';
import type { Client } from '../harness/client.ts';
import { type CreateContenders, handwrittenInterceptor, staticHeader, staticHeaderAgain } from './target.ts';

type Interceptor = Dispatcher.DispatcherComposeInterceptor;

const body = Buffer.from('{"orders":[]}');

/** Answers every request before it is sent. */
class Mock extends Dispatcher {
  override dispatch(_options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const controller = {
      resume() {},
      pause() {},
      abort() {},
      aborted: false,
      paused: false,
      reason: null,
      rawHeaders: [],
    };
    handler.onRequestStart?.(controller as never, {});
    handler.onResponseStart?.(controller as never, 200, {}, 'OK');
    handler.onResponseData?.(controller as never, body);
    handler.onResponseEnd?.(controller as never, {});
    return true;
  }
}

export const createContenders: CreateContenders = async ({ client, isMock, withPeers, token, auth, handwritten }) => {
  const withToken = (headers: unknown, value: string) => ({ ...(headers as object), authorization: `Bearer ${value}` });
  const fixed: Interceptor = (dispatch) => (options, handler) =>
    dispatch({ ...options, headers: withToken(options.headers, token) }, handler);
  const intercepted: Interceptor = (dispatch) => (options, handler) => {
    void handwritten
      .getToken()
      .then((value) => dispatch({ ...options, headers: withToken(options.headers, value) }, handler));
    return true;
  };
  const interceptors: Record<string, Interceptor> = {
    [staticHeader]: fixed,
    [staticHeaderAgain]: fixed,
    [handwrittenInterceptor]: intercepted,
    '@service-auth/undici': serviceAuthInterceptor(auth),
  };
  if (withPeers) {
    type Peers = { undiciPeers: Record<string, (client: Client) => Interceptor> };
    const { undiciPeers } = await loadPeerModule<Peers>('http');
    for (const [name, create] of Object.entries(undiciPeers)) interceptors[name] = create(client);
  }
  return Object.entries(interceptors).map(([name, interceptor]) => {
    const dispatcher = (isMock ? new Mock() : new Agent({ connections: 32 })).compose(interceptor);
    return {
      name,
      run: async () => {
        const response = await request(client.apiUrl, { dispatcher, headers: { accept: 'application/json' } });
        await response.body.dump();
      },
    };
  });
};
