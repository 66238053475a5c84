import { connectionTo } from './connection.ts';
import { serviceAuthError } from './errors.ts';
import { fetchInit } from './fetch-init.ts';
import { ownProperties } from './foreign.ts';
import { leftAlone, originalFetch } from './next.ts';
import type { BodyReader, FetchedResponse, TokenFetch } from './token-fetch.ts';
import type { Transport } from './transport.ts';

/** Options of {@link fetchTransport}. */
export interface FetchTransportOptions {
  /** Any fetch: undici's with a proxy agent, node-fetch, a mock. Default: the global one, looked up at each request. */
  fetch?: TokenFetch | undefined;
}

/** The longest body of a token response, in bytes after decoding. */
export const maxBodyLength = 65_536;

/** Sends token requests by fetch: never follows a redirect, stops reading a body at 65,536 decoded bytes. */
export function fetchTransport(options: FetchTransportOptions = {}): Transport {
  const { fetch: given } = ownProperties(options);
  return async ({ url, method, headers, body, signal }) => {
    const connection = given ? undefined : connectionTo(url);
    const send = connection?.send ?? originalFetch(given ?? fetch);
    // What else fetch could add (cookies, a cached answer) has no place here, but edge runtimes reject such options.
    const members = { method, headers: ownProperties(headers), body, signal, redirect: 'manual' } as const;
    let response: FetchedResponse;
    try {
      response = await send(url, fetchInit({ ...members, ...connection?.init, ...leftAlone() }));
    } catch (error) {
      connection?.close();
      throw error;
    }
    // Deno throws if a client is closed twice.
    const text = readBody(response).finally(() => connection?.close());
    // A browser hides what a redirect was.
    const status = response.type === 'opaqueredirect' ? 302 : response.status;
    // Without success the status alone says that no token was issued: a giant error page changes nothing.
    return { status, headers: response.headers, body: response.ok ? await text : text.catch(() => '') };
  };
}

async function readBody(response: FetchedResponse): Promise<string> {
  const reader = readerOf(response.body);
  if (!reader) return response.text();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    length += part.value.length;
    if (length > maxBodyLength) {
      // Not awaited: a peer that never stops may never confirm.
      reader.cancel().catch(() => {});
      throw unusable('too_large', 'is longer than 65,536 bytes');
    }
    chunks.push(part.value);
  }
  return decodeUtf8(chunks);
}

/** A web stream has a reader. A stream of Node, as the fetch of other packages returns, is iterated over instead. */
function readerOf(body: FetchedResponse['body']): BodyReader | undefined {
  if (!body) return undefined;
  if ('getReader' in body) return body.getReader();
  const chunks = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]?.();
  return chunks && { read: () => chunks.next(), cancel: async () => chunks.return?.() };
}

function decodeUtf8(chunks: readonly Uint8Array[]): string {
  const decoder = new TextDecoder('utf-8', ownProperties({ fatal: true }));
  try {
    return chunks.map((chunk) => decoder.decode(chunk, ownProperties({ stream: true }))).join('') + decoder.decode();
  } catch {
    throw unusable('not_utf8', 'is not UTF-8');
  }
}

function unusable(reason: 'too_large' | 'not_utf8', what: string): Error {
  const message = `The token endpoint's answer ${what}.`;
  return serviceAuthError('ERR_TOKEN_RESPONSE', message, { reason, retryAt: undefined });
}
