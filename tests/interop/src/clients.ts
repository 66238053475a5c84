import { memoryStore, type ServiceAuth, type ServiceAuthOptions } from '@service-auth/core';
import type { ConnectHttpClient, TestService } from '@service-auth/testing';
import { connectHttpService } from '../../../packages/nestjs/test/support/connect-http-service.ts';
import { axiosClients } from '../../compat/http-clients/clients/axios.ts';
import { isNewest, type Client as Version } from '../../compat/http-clients/clients/client.ts';
import { fetchClients } from '../../compat/http-clients/clients/fetch.ts';
import { gotClients } from '../../compat/http-clients/clients/got.ts';
import { undiciClients } from '../../compat/http-clients/clients/undici.ts';

/** One HTTP client that sends the token, in its own way. */
export interface Client {
  readonly auth: ServiceAuth;
  /** A GET. Resolves with the status. */
  get(url: string): Promise<number>;
  close(): Promise<unknown>;
}

const newest = (versions: readonly Version[]) => versions.find(isNewest)?.load() as Promise<ConnectHttpClient>;

/** Every adapter there is, attached to the newest version of its client as for the contract. */
export const adapters: Readonly<Record<string, () => Promise<ConnectHttpClient>>> = {
  axios: () => newest(axiosClients),
  fetch: () => newest(fetchClients),
  got: () => newest(gotClients),
  nestjs: async () => connectHttpService,
  undici: () => newest(undiciClients),
};

export async function connectTo(adapter: string, given: ServiceAuthOptions): Promise<Client> {
  const options = { store: memoryStore(), ...given };
  const connect = (await adapters[adapter]?.()) as ConnectHttpClient;
  const { auth, request, close } = await connect({ service: { baseUrl: given.baseUrl } as TestService, options });
  const nothing = { headers: {}, body: undefined, signal: undefined, timeoutMs: undefined };
  const get = async (url: string) =>
    (await request({ ...nothing, method: 'GET', url, optOut: false, streamed: false })).status;
  return { auth, get, close };
}
