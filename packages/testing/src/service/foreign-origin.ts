import type { Clock } from '@service-auth/core';
import { systemClock } from '../clock/system-clock.ts';
import { type Exchange, jsonAnswer, startLoopbackServer } from './loopback-server.ts';
import { type ReceivedRequest, recordOf } from './received-request.ts';
import { createScript, type RecordedRequest, type Script, type ScriptedAnswer } from './script.ts';

/** A request to a host that must not receive tokens. */
export interface ForeignRequest {
  readonly method: string;
  readonly path: string;
  /** Names and values in turn, as sent, including credentials. */
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

/** A second host: every token that it receives is a leak. */
export interface ForeignOrigin extends AsyncDisposable {
  /** `http://127.0.0.1:port`. The port differs from the service's, so it is another origin. */
  readonly url: string;
  readonly requests: readonly ForeignRequest[];
  /** All received requests as one text, for `service.findSecrets`. */
  readonly received: string;
  /** Scripts the answers of this host. Without a script it answers 200. */
  readonly answers: Script<RecordedRequest, ScriptedAnswer>;
  close(): Promise<void>;
}

/**
 * Starts a host on loopback that answers every request and remembers it, for tests that no token
 * goes there.
 */
export async function startForeignOrigin(options: { clock?: Clock | undefined } = {}): Promise<ForeignOrigin> {
  const answers = createScript<RecordedRequest, ScriptedAnswer>(false);
  const requests: ForeignRequest[] = [];

  async function exchange(request: ReceivedRequest): Promise<Exchange> {
    const { method, path, rawHeaders } = request;
    requests.push({ method, path, rawHeaders, body: request.body.toString() });
    return { choice: await answers.choose(recordOf(request)), handle: async () => jsonAnswer(200, { foreign: true }) };
  }

  const server = await startLoopbackServer(options.clock ?? systemClock, exchange, () => {});
  return {
    url: server.url,
    requests,
    get received() {
      return JSON.stringify(requests);
    },
    answers,
    close: server.close,
    [Symbol.asyncDispose]: server.close,
  };
}
