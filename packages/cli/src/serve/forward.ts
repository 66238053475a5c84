import type { IncomingMessage, ServerResponse } from 'node:http';
import { isServiceAuthError, type ServiceAuth } from '@service-auth/core';
import { acceptsToken, sendWithToken } from '@service-auth/core/http';
import { Pool } from 'undici';
import { type Answer, invalidRequest, refusal } from './answer.ts';
import { forwardedHeaders, forwardingRefusal, hasBody, isCoded, pathOf, returnedHeaders } from './forwarding.ts';
import type { KeptToken } from './kept-token.ts';
import { requestBody } from './request-body.ts';
import type { RequestHead } from './request-head.ts';
import { failureAnswer } from './token-answer.ts';
import { sendUpstream, type UpstreamAnswer } from './upstream.ts';

// The time until the head of an answer, and between two parts of its body.
const answerWithinMs = 300_000;
const connectWithinMs = 10_000;

/** Forwards requests to the API. */
export interface Forwarder {
  /**
   * Resolves with an answer of this server if there is none of the API. Otherwise it has been
   * written, or is being streamed.
   */
  forward(request: IncomingMessage, response: ServerResponse, forwarded: Forwarded): Promise<Answer | undefined>;
  close(): Promise<void>;
}

interface Forwarded {
  readonly head: RequestHead;
  /** Aborts when the caller is gone. */
  readonly signal: AbortSignal;
  readonly isEnding: () => boolean;
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

  async function forward(request: IncomingMessage, response: ServerResponse, { head, signal, isEnding }: Forwarded) {
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
          return sendUpstream(pool, { method, path, headers, body: content, signal });
        },
        isRejected: ({ status }) => rejectedStatuses.includes(status),
        isAccepted: ({ status }) => acceptsToken(status),
        canResend: () => !body || body.whole() !== undefined,
        discard: (rejected) => rejected.discard(),
      });
      if (isCoded(answer.rawHeaders)) {
        answer.discard();
        return refusal(
          502,
          'bad_gateway',
          'The answer of the API has a transfer coding that the request did not allow.',
        );
      }
      write(answer, response, isEnding() || !request.complete);
      return undefined;
    } catch (error) {
      return failureOf(error);
    }
  }

  return { forward, close: () => pool.destroy() };
}

function write(answer: UpstreamAnswer, response: ServerResponse, isLast: boolean): void {
  const headers = returnedHeaders(answer.rawHeaders, answer.status);
  try {
    response.writeHead(answer.status, isLast ? [...headers, 'Connection', 'close'] : headers);
  } catch (error) {
    // The API sent a header that is none.
    answer.discard();
    throw error;
  }
  answer.stream(response);
  if (response.writableEnded) return;
  // A caller that waits for the first event of a stream wants to see the head before it.
  setImmediate(() => response.writableEnded || response.destroyed || response.flushHeaders());
}

function failureOf(error: unknown): Answer {
  if (isServiceAuthError(error)) return failureAnswer(error, Date.now());
  const { code } = Object(error) as { code?: unknown };
  const isLate = code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_CONNECT_TIMEOUT';
  const what = isLate ? 'did not answer in time' : `could not be reached, or broke off (${code ?? 'unknown'})`;
  return refusal(isLate ? 504 : 502, 'bad_gateway', `The API ${what}.`);
}
