import 'reflect-metadata';
import { HttpService } from '@nestjs/axios';
import { NestFactory } from '@nestjs/core';
import { attachServiceAuth } from '@service-auth/axios';
import { createServiceAuth, memoryStore, type ServiceAuth, type ServiceAuthOptions } from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';
import { serviceAuth } from '@service-auth/got';
import { ServiceAuth as InjectedServiceAuth, ServiceAuthModule } from '@service-auth/nestjs';
import { ServiceAuthHttpModule } from '@service-auth/nestjs/axios';
import { serviceAuthInterceptor } from '@service-auth/undici';
import axios from 'axios';
import got from 'got';
import { firstValueFrom } from 'rxjs';
import { Agent, request } from 'undici';

/** One HTTP client that sends the token, in its own way. */
export interface Client {
  readonly auth: ServiceAuth;
  /** A GET. Resolves with the status. */
  get(url: string): Promise<number>;
  close?(): Promise<unknown>;
}

/** Every adapter there is, each attached to its client. */
export const clients: Readonly<Record<string, (options: ServiceAuthOptions) => Client | Promise<Client>>> = {
  axios(options) {
    const auth = createServiceAuth({ store: memoryStore(), ...options });
    const instance = axios.create({ validateStatus: null });
    attachServiceAuth(instance, auth);
    return { auth, get: async (url) => (await instance.get(url)).status };
  },
  fetch(options) {
    const auth = createServiceAuth({ store: memoryStore(), ...options });
    const authFetch = createAuthFetch(auth);
    return { auth, get: async (url) => (await authFetch(url)).status };
  },
  got(options) {
    const auth = createServiceAuth({ store: memoryStore(), ...options });
    const api = got.extend(serviceAuth(auth), { throwHttpErrors: false });
    return { auth, get: async (url) => (await api.get(url)).statusCode };
  },
  async nestjs(options) {
    const imports = [
      ServiceAuthModule.forRoot({ store: memoryStore(), ...options }),
      ServiceAuthHttpModule.register({ validateStatus: null }),
    ];
    const module = { module: class AppModule {}, imports };
    const app = await NestFactory.createApplicationContext(module, { logger: false, abortOnError: false });
    const http = app.get(HttpService, { strict: false });
    return {
      auth: app.get(InjectedServiceAuth),
      get: async (url) => (await firstValueFrom(http.get(url))).status,
      close: () => app.close(),
    };
  },
  undici(options) {
    const auth = createServiceAuth({ store: memoryStore(), ...options });
    const agent = new Agent();
    const dispatcher = agent.compose(serviceAuthInterceptor(auth));
    async function get(url: string): Promise<number> {
      const { statusCode, body } = await request(url, { dispatcher });
      await body.dump();
      return statusCode;
    }
    return { auth, get, close: () => agent.close() };
  },
};
