// The worker's side of the contract of HTTP clients: what a case asks of its client arrives as requests, each with a context of its own.
import {
  createServiceAuth,
  isServiceAuthError,
  memoryStore,
  type ServiceAuth,
  type ServiceAuthEvent,
  type ServiceAuthOptions,
  type Store,
} from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';
import type { HttpClientBodyKind, HttpClientRequest, HttpClientResponse } from '@service-auth/testing';
import { shiftedClock } from './cases.ts';
import { ask } from './service.ts';

/** The use of the client by an application of workers. */
export interface Manner {
  /** True if it passes `waitUntil`. */
  readonly alive: boolean;
  /** True if it calls the adapter with a `Request`, as ky and openapi-fetch do with all that they are given. */
  readonly asRequest: boolean;
}

/** The request of a case. Its body is the body that the client must send. */
export type Asked =
  | {
      readonly action: 'connect';
      readonly options: ServiceAuthOptions;
      /** The durability of the case's own store, which stays where the case runs. */
      readonly durability: Store['durability'] | undefined;
      readonly manner: Manner;
    }
  | ({
      readonly action: 'request';
      readonly kind: HttpClientBodyKind | undefined;
      /** Beforehand, or when the control answers this question. */
      readonly abort: 'beforehand' | number | undefined;
    } & Omit<HttpClientRequest, 'body' | 'signal'>)
  | { readonly action: 'advance'; readonly ms: number }
  | { readonly action: 'close' };

/** The case that asks, and the address at which the worker can ask it something back. */
export interface Asker {
  readonly control: string;
  readonly id: number;
}

/** The result. */
export interface Answered {
  /** All since the client was created. */
  readonly events: readonly ServiceAuthEvent[];
  readonly response?: HttpClientResponse;
  readonly failure?: {
    readonly code: string | undefined;
    readonly retryAt: number | undefined;
    /** All that somebody could log of it. */
    readonly printed: string;
  };
}

interface Client {
  readonly auth: ServiceAuth;
  readonly authFetch: typeof fetch;
  /** Sends a stream in a `Request` again, too, which is what buffering is for. */
  readonly bufferingFetch: typeof fetch;
  readonly clock: ReturnType<typeof shiftedClock>;
  readonly events: readonly ServiceAuthEvent[];
  readonly manner: Manner;
}

/** Answers the requests of the contract. */
export function createContractClient(
  waitUntil: ServiceAuthOptions['waitUntil'],
  print: (value: unknown) => string,
): (request: Request) => Promise<Response> {
  const clients = new Map<number, Client>();

  function connect(asker: Asker, { options, durability, manner }: Asked & { action: 'connect' }): void {
    const clock = shiftedClock();
    const events: ServiceAuthEvent[] = [];
    const auth = createServiceAuth({
      ...options,
      ...(manner.alive && { waitUntil }),
      clock,
      store: durability ? storeOf(asker, durability) : memoryStore({ clock }),
      onEvent: (event) => void events.push(event),
    });
    const authFetch = createAuthFetch(auth);
    const bufferingFetch = createAuthFetch(auth, { bufferRequests: true });
    clients.set(asker.id, { auth, authFetch, bufferingFetch, clock, events, manner });
  }

  async function act(asker: Asker, asked: Asked, request: Request): Promise<HttpClientResponse | undefined> {
    if (asked.action === 'connect') return void connect(asker, asked);
    const client = clients.get(asker.id);
    if (!client) throw new Error('there is no client');
    if (asked.action === 'advance') return void client.clock.shift(asked.ms);
    if (asked.action === 'close') return void (await client.auth.close());
    const { method, url, headers, kind, abort, timeoutMs, optOut } = asked;
    const init = {
      method,
      headers,
      signal: timeoutMs === undefined ? signalOf(asker, abort) : AbortSignal.timeout(timeoutMs),
      ...(kind && { body: await bodyOf(kind, request) }),
    };
    const { asRequest } = client.manner;
    const authFetch = asRequest && kind !== 'stream' ? client.bufferingFetch : client.authFetch;
    const send = optOut ? fetch : authFetch;
    const response = await (asRequest ? send(new Request(url, init)) : send(url, init));
    return { status: response.status, text: await response.text() };
  }

  return async (request) => {
    const question = new URL(request.url).searchParams.get('question') ?? '';
    const { asker, asked } = JSON.parse(question) as { asker: Asker; asked: Asked };
    const outcome = await act(asker, asked, request).then(
      (response) => ({ response }),
      (error) => ({ failure: failureOf(error, print) }),
    );
    return Response.json({ ...outcome, events: clients.get(asker.id)?.events });
  };
}

function storeOf({ control, id }: Asker, durability: Store['durability']): Store {
  return {
    durability,
    load: async (key) => (await ask(control, id, 'load', [key])) as never,
    swap: async (key, change) => (await ask(control, id, 'swap', [key, change])) as never,
  };
}

/** Aborts in the context of the request that it belongs to, as its caller's own signal would. */
function signalOf({ control, id }: Asker, abort: (Asked & { action: 'request' })['abort']): AbortSignal | null {
  if (abort === undefined) return null;
  if (abort === 'beforehand') return AbortSignal.abort();
  const controller = new AbortController();
  ask(control, id, 'aborted', [abort]).then(
    () => controller.abort(),
    (error: unknown) => controller.abort(error),
  );
  return controller.signal;
}

async function bodyOf(kind: HttpClientBodyKind, request: Request): Promise<RequestInit['body'] & {}> {
  switch (kind) {
    case 'bytes':
      return new Uint8Array(await request.arrayBuffer());
    case 'formData':
      return (await request.formData()) as FormData;
    case 'blob':
      return request.blob();
    case 'urlSearchParams':
      return new URLSearchParams(await request.text());
    case 'stream':
      return request.body ?? '';
    default:
      return request.text();
  }
}

function failureOf(error: unknown, print: (value: unknown) => string): Answered['failure'] {
  const { code, retryAt } = isServiceAuthError(error) ? error : {};
  const texts: string[] = [];
  for (let each = error as Error | undefined; each && texts.length < 10; each = each.cause as Error | undefined) {
    texts.push(`${each.stack} ${JSON.stringify(each)} ${print(each)}`);
  }
  return { code, retryAt, printed: texts.join('\n') };
}
