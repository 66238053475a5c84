import type { ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';

const maxDiscardedBytes = 65_536;

/** A request as the API gets it. */
export interface UpstreamRequest {
  readonly method: string;
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: string[];
  readonly body: AsyncIterable<Buffer> | Buffer | null;
  /** Ends the request, because the caller is gone. */
  readonly signal: AbortSignal;
}

/** An answer of the API, whose body waits. */
export interface UpstreamAnswer {
  readonly status: number;
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[];
  /**
   * Streams the body into the answer, whose head has been written. An answer that breaks off breaks
   * off there, too.
   */
  stream(response: ServerResponse): void;
  /** Frees the connection. */
  discard(): void;
}

/**
 * Sends a request. Resolves when the head of the answer has arrived. Rejects with an error of
 * undici, or with the reason of the signal.
 */
export function sendUpstream(dispatcher: Dispatcher, { signal, ...request }: UpstreamRequest): Promise<UpstreamAnswer> {
  return new Promise((resolve, reject) => {
    let sink: ServerResponse | undefined;
    let isBroken = false;
    let discarded = 0;
    let isDiscarded = false;
    let hasEnded = false;
    // If the API closes the connection, undici hands out the rest of the body, although it was told
    // to pause.
    const waiting: Buffer[] = [];
    let abort = () => {};
    const options = { ...request, method: request.method as Dispatcher.HttpMethod } as Dispatcher.DispatchOptions;
    dispatcher.dispatch(options, {
      onRequestStart(controller) {
        abort = () => controller.abort(Object(signal.reason));
        if (signal.aborted) abort();
        else signal.addEventListener('abort', abort, { once: true });
      },
      onResponseStart(controller, status) {
        // Informational answers are for one connection, or come again (RFC 9110 section 15.2).
        if (status < 200) return;
        controller.pause();
        resolve({
          status,
          rawHeaders: textsOf(controller.rawHeaders),
          stream(response) {
            if (isBroken) return void response.destroy();
            sink = response;
            response.on('drain', () => controller.resume());
            for (const chunk of waiting) response.write(chunk);
            if (hasEnded) response.end();
            else controller.resume();
          },
          discard() {
            isDiscarded = true;
            controller.resume();
          },
        });
      },
      onResponseData(controller, chunk) {
        if (sink) {
          if (!sink.write(chunk)) controller.pause();
          return;
        }
        if (!isDiscarded) return void waiting.push(chunk);
        discarded += chunk.length;
        if (discarded > maxDiscardedBytes) controller.abort(new Error('nobody reads the answer'));
      },
      onResponseEnd() {
        signal.removeEventListener('abort', abort);
        hasEnded = true;
        sink?.end();
      },
      onResponseError(_controller, error) {
        signal.removeEventListener('abort', abort);
        isBroken = true;
        sink?.destroy();
        reject(error);
      },
    });
  });
}

/** Header values are bytes; Latin-1 keeps each of them. */
function textsOf(rawHeaders: Dispatcher.DispatchController['rawHeaders']): string[] {
  return Array.isArray(rawHeaders)
    ? rawHeaders.map((text) => (typeof text === 'string' ? text : text.toString('latin1')))
    : [];
}
