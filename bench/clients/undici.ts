import { serviceAuthInterceptor } from '@service-auth/undici';
import { Agent, Dispatcher, request } from 'undici';
import { loadPeerModule } from '../contenders/peers.ts';
import type { Client } from '../harness/client.ts';
import { type CreateContenders, createCoverage, namedWays } from './target.ts';

type Interceptor = Dispatcher.DispatcherComposeInterceptor;
type Handler = Required<Dispatcher.DispatchHandler>;

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

/** Sends the request once more if the answer is a 401, and passes on everything else. */
class SecondTry implements Dispatcher.DispatchHandler {
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #again: () => void;
  #isRejected = false;

  constructor(handler: Dispatcher.DispatchHandler, again: () => void) {
    this.#handler = handler;
    this.#again = again;
  }

  onRequestStart(...details: Parameters<Handler['onRequestStart']>): void {
    this.#handler.onRequestStart?.(...details);
  }

  onResponseStart(...details: Parameters<Handler['onResponseStart']>): void {
    this.#isRejected = details[1] === 401;
    if (!this.#isRejected) this.#handler.onResponseStart?.(...details);
  }

  onResponseData(...details: Parameters<Handler['onResponseData']>): void {
    if (!this.#isRejected) this.#handler.onResponseData?.(...details);
  }

  onResponseEnd(...details: Parameters<Handler['onResponseEnd']>): void {
    if (this.#isRejected) this.#again();
    else this.#handler.onResponseEnd?.(...details);
  }

  onResponseError(...details: Parameters<Handler['onResponseError']>): void {
    this.#handler.onResponseError?.(...details);
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
  const covers = createCoverage(client.apiUrl);
  const careful: Interceptor = (dispatch) => (options, handler) => {
    if (!covers(`${options.origin}${options.path}`)) return dispatch(options, handler);
    const send = async (to: Dispatcher.DispatchHandler) => {
      const headers = withToken(options.headers, await handwritten.getToken());
      dispatch({ ...options, headers }, to);
    };
    const again = () => {
      handwritten.forget();
      void send(handler);
    };
    void send(new SecondTry(handler, again));
    return true;
  };
  const ours = serviceAuthInterceptor(auth);
  const interceptors = namedWays('undici', { withHeader: () => fixed, handwritten: intercepted, careful, ours });
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
