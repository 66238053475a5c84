import { attachServiceAuth } from '@service-auth/axios';
import axios, { type AxiosAdapter, type AxiosError, type AxiosInstance, type AxiosStatic } from 'axios';
import { loadPeerModule } from '../contenders/peers.ts';
import type { Client } from '../harness/client.ts';
import type { Contender } from '../harness/compare.ts';
import { type CreateContenders, createCoverage, namedWays, type Target } from './target.ts';

interface Instance {
  readonly isMock: boolean;
  readonly headers?: Record<string, string>;
  /** Default: the ES module. */
  readonly copy?: Pick<AxiosStatic, 'create'>;
}
type Attach = (instance: AxiosInstance, client: Client) => unknown;

const mock: AxiosAdapter = async (config) => ({
  data: '{"orders":[]}',
  status: 200,
  statusText: 'OK',
  headers: {},
  config,
});

export const createContenders: CreateContenders = async (target) => {
  const { apiUrl } = target.client;
  const contenders: Contender[] = Object.entries(createInstances(target)).map(([name, instance]) => ({
    name,
    run: () => instance.get(apiUrl),
  }));
  if (!target.withPeers) return contenders;
  const { axiosPeers } = await loadPeerModule<{ axiosPeers: Record<string, Attach> }>('http');
  for (const [name, attach] of Object.entries(axiosPeers)) {
    const instance = createInstance(target);
    attach(instance, target.client);
    contenders.push({ name, run: () => instance.get(apiUrl) });
  }
  return contenders;
};

/** The contenders with which every library on top of axios is also compared. */
export function createInstances({
  isMock,
  token,
  auth,
  handwritten,
  client,
  copy = axios,
}: Pick<Target, 'isMock' | 'token' | 'auth' | 'handwritten' | 'client'> & Pick<Instance, 'copy'>): Record<
  string,
  AxiosInstance
> {
  const withHeader = () => createInstance({ isMock, copy, headers: { Authorization: `Bearer ${token}` } });
  const intercepted = createInstance({ isMock, copy });
  intercepted.interceptors.request.use(async (config) => {
    config.headers.set('Authorization', `Bearer ${await handwritten.getToken()}`);
    return config;
  });
  const careful = createInstance({ isMock, copy });
  const covers = createCoverage(client.apiUrl);
  careful.interceptors.request.use(async (config) => {
    if (covers(config.url ?? '')) config.headers.set('Authorization', `Bearer ${await handwritten.getToken()}`);
    return config;
  });
  careful.interceptors.response.use(
    (response) => {
      response.config.headers.set('Authorization', '[hidden]');
      return response;
    },
    async (error: AxiosError & { config: { isSecond?: boolean } }) => {
      const { config, response } = error;
      config.headers?.set('Authorization', '[hidden]');
      if (response?.status !== 401 || config.isSecond) throw error;
      handwritten.forget();
      return careful.request(Object.assign(config, { isSecond: true }));
    },
  );
  const attached = createInstance({ isMock, copy });
  attachServiceAuth(attached, auth);
  return namedWays('axios', { withHeader, handwritten: intercepted, careful, ours: attached });
}

/** One that is mocked, or not. */
export function createInstance({ isMock, headers = {}, copy = axios }: Instance): AxiosInstance {
  return copy.create({ headers, ...(isMock && { adapter: mock }) });
}
