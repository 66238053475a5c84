import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { HttpService } from '@nestjs/axios';
import { NestFactory } from '@nestjs/core';
import { ServiceAuth, ServiceAuthModule } from '@service-auth/nestjs';
import { ServiceAuthHttpModule } from '@service-auth/nestjs/axios';
import type { ConnectHttpClient, HttpClientRequest } from '@service-auth/testing';
import { firstValueFrom } from 'rxjs';

/** An application with an HttpService, for the contract of HTTP clients. */
export const connectHttpService: ConnectHttpClient = async ({ options, isRejected }) => {
  const imports = [ServiceAuthModule.forRoot(options), ServiceAuthHttpModule.register({ isRejected })];
  const module = { module: class AppModule {}, imports };
  const app = await NestFactory.createApplicationContext(module, { logger: false, abortOnError: false });
  const http = app.get(HttpService, { strict: false });
  return {
    auth: app.get(ServiceAuth),
    async request(request) {
      const response = firstValueFrom(http.request<string | Readable>(axiosRequest(request)));
      const { status, data } = await response.catch((error) => error.response ?? Promise.reject(error));
      return { status, text: typeof data === 'string' ? data : await text(data) };
    },
    close: () => app.close(),
  };
};

/** Translates a request into the configuration of axios, which the HttpService uses. */
function axiosRequest({ method, url, headers, body, signal, timeoutMs, optOut, streamed }: HttpClientRequest): object {
  const data = body?.kind === 'stream' ? Readable.fromWeb(body.value as never) : body?.value;
  return {
    method,
    url,
    headers,
    data,
    responseType: streamed ? 'stream' : 'text',
    transformResponse: [],
    ...(signal && { signal }),
    ...(timeoutMs !== undefined && { timeout: timeoutMs }),
    ...(optOut && { serviceAuth: false }),
  };
}
