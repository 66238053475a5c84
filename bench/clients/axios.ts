import { attachServiceAuth } from '@service-auth/axios';
import axios, { type AxiosAdapter, type AxiosInstance } from 'axios';
import { loadPeerModule } from '../contenders/peers.ts';
import type { Client } from '../harness/client.ts';
import type { Contender } from '../harness/compare.ts';
import {
  type CreateContenders,
  handwrittenInterceptor,
  staticHeader,
  staticHeaderAgain,
  type Target,
} from './target.ts';

interface Instance {
  readonly isMock: boolean;
  readonly headers?: Record<string, string>;
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
}: Pick<Target, 'isMock' | 'token' | 'auth' | 'handwritten'>): Record<string, AxiosInstance> {
  const withHeader = () => createInstance({ isMock, headers: { Authorization: `Bearer ${token}` } });
  const intercepted = createInstance({ isMock });
  intercepted.interceptors.request.use(async (config) => {
    config.headers.set('Authorization', `Bearer ${await handwritten.getToken()}`);
    return config;
  });
  const attached = createInstance({ isMock });
  attachServiceAuth(attached, auth);
  return {
    [staticHeader]: withHeader(),
    [staticHeaderAgain]: withHeader(),
    [handwrittenInterceptor]: intercepted,
    '@service-auth/axios': attached,
  };
}

/** One that is mocked, or not. */
export function createInstance({ isMock, headers = {} }: Instance): AxiosInstance {
  return axios.create({ headers, ...(isMock && { adapter: mock }) });
}
