import type { IncomingMessage } from 'node:http';
import type { Clock } from '@service-auth/core';
import type { RecordedRequest } from './script.ts';

/** A complete request with its credentials. Tests see it as a {@link RecordedRequest}. */
export interface ReceivedRequest {
  readonly at: number;
  readonly method: string;
  readonly path: string;
  /** Names and values in turn, as sent. */
  readonly rawHeaders: readonly string[];
  /** The headers with lower-case names. Commas join the values of a repeated header. */
  readonly headers: Readonly<Record<string, string>>;
  readonly authorization: string | undefined;
  readonly body: Buffer;
}

// A server accepts the whole URL in the place of the path (RFC 9112 section 3.2.2). Core sends it
// on Deno, to loopback without TLS.
const absoluteForm = /^https?:\/\/[^/?#]*/i;

/** Reads a request to its end. */
export async function receive(request: IncomingMessage, clock: Clock): Promise<ReceivedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { authorization } = request.headersDistinct;
  const headers = Object.entries(request.headersDistinct).map(([name, values = []]) => [name, values.join(', ')]);
  return {
    at: clock.now(),
    method: request.method ?? '',
    path: (request.url ?? '').replace(absoluteForm, ''),
    rawHeaders: request.rawHeaders,
    headers: Object.fromEntries(headers),
    authorization: authorization?.join(', '),
    body: Buffer.concat(chunks),
  };
}

const credentialHeaders = new Set(['authorization', 'proxy-authorization', 'cookie']);

/** The parts of a request without credentials. */
export function recordOf({ at, method, path, headers }: ReceivedRequest): RecordedRequest {
  const shown = Object.entries(headers).filter(([name]) => !credentialHeaders.has(name));
  return { at, method, path, headers: Object.fromEntries(shown) };
}
