import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import { isServiceAuthError, type ServiceAuth } from '@service-auth/core';
import { acceptsToken, sendWithToken } from '@service-auth/core/http';
import { type Dispatcher, Pool } from 'undici';
import { type Answer, invalidRequest, refusal } from './answer.ts';
import { forwardedHeaders, forwardingRefusal, hasBody, isCoded, pathOf, returnedHeaders } from './forwarding.ts';
import type { KeptToken } from './kept-token.ts';
import { requestBody } from './request-body.ts';
import type { RequestHead } from './request-head.ts';
import { failureAnswer } from './token-answer.ts';

// The time until the head of an answer, and between two parts of its body.
const answerWithinMs = 300_000;
const connectWithinMs = 10_000;

export interface Forwarder {
  /**
   * Resolves with an answer of this server. Undefined: that of the API is written or streamed.
   * `signal` aborts when the caller is gone.
   */
  forward(
    request: IncomingMessage,
    response: ServerResponse,
    forwarded: { readonly head: RequestHead; readonly signal: AbortSignal; readonly isEnding: () => boolean },
  ): Promise<Answer | undefined>;
  close(): Promise<void>;
}

interface UpstreamAnswer {
  readonly status: number;
  /** Names and values in turn. Latin-1 keeps each byte of a value. */
  readonly rawHeaders: readonly string[];
  readonly body: Dispatcher.ResponseData['body'];
}

/**
 * Creates the forwarder for the base URL of `auth`. `rejectedStatuses`: those by which the API
 * rejects a token. Undefined: `auth` has no base URL.
 */
export function createForwarder(
  auth: ServiceAuth,
  kept: KeptToken,
  rejectedStatuses: readonly number[],
): Forwarder | undefined {
  const { baseUrl } = auth;
  if (baseUrl === undefined) return undefined;
  const pool = new Pool(new URL(baseUrl).origin, {
    headersTimeout: answerWithinMs,
    bodyTimeout: answerWithinMs,
    connect: { timeout: connectWithinMs },
  });

  async function send(options: Omit<Dispatcher.RequestOptions, 'responseHeaders'>): Promise<UpstreamAnswer> {
    const { statusCode: status, headers, body } = await pool.request({ ...options, responseHeaders: 'raw' });
    return { status, rawHeaders: headers as unknown as string[], body };
  }

  const forward: Forwarder['forward'] = async (request, response, { head, signal, isEnding }) => {
    const refused = forwardingRefusal(head);
    if (refused) return refused;
    const path = pathOf(head.target, baseUrl ?? '', auth.covers);
    if (path === undefined)
      return invalidRequest('The path would leave the base URL, is ambiguous, or is that of the token endpoint.');
    const { method, rawHeaders } = head;
    const begin = () => void (request.headers.expect && response.writeContinue());
    const body = hasBody(head) ? requestBody(request, begin) : undefined;
    try {
      const answer = await sendWithToken<UpstreamAnswer>(auth, {
        waitForToken: async () => (await kept.get(signal)).token,
        send: ({ authorization }, attempt) => {
          const headers = forwardedHeaders(rawHeaders, authorization);
          const content = (attempt === 1 ? body?.chunks : body?.whole()) ?? null;
          return send({ method: method as Dispatcher.HttpMethod, path, headers, body: content as Readable, signal });
        },
        isRejected: ({ status }) => rejectedStatuses.includes(status),
        isAccepted: ({ status }) => acceptsToken(status),
        canResend: () => !body || body.whole() !== undefined,
        discard,
      });
      if (isCoded(answer.rawHeaders)) {
        discard(answer);
        return badGateway('The answer of the API has a transfer coding that the request did not allow.');
      }
      write(answer, response, isEnding() || !request.complete);
      return undefined;
    } catch (error) {
      return failureOf(error);
    }
  };

  return { forward, close: () => pool.destroy() };
}

function write(answer: UpstreamAnswer, response: ServerResponse, isLast: boolean): void {
  const headers = returnedHeaders(answer.rawHeaders, answer.status);
  try {
    response.writeHead(answer.status, isLast ? [...headers, 'Connection', 'close'] : headers);
  } catch (error) {
    // The API sent a header that is none.
    discard(answer);
    throw error;
  }
  // A body that breaks off breaks the answer off, too, and ends with it.
  pipeline(answer.body, response, () => {});
  if (response.writableEnded) return;
  // A caller that waits for the first event of a stream wants to see the head before it.
  setImmediate(() => response.writableEnded || response.destroyed || response.flushHeaders());
}

/** Frees the connection: the rest of a short body is read, and a long one is aborted. */
function discard({ body }: UpstreamAnswer): void {
  void body.dump();
}

function failureOf(error: unknown): Answer {
  if (isServiceAuthError(error)) return failureAnswer(error, Date.now());
  const { code } = Object(error) as { code?: unknown };
  const isLate = code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_CONNECT_TIMEOUT';
  const what = isLate ? 'did not answer in time' : `could not be reached, or broke off (${code ?? 'unknown'})`;
  return badGateway(`The API ${what}.`, isLate ? 504 : 502);
}

function badGateway(description: string, status = 502): Answer {
  return refusal(status, 'bad_gateway', description);
}
