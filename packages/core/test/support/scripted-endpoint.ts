import type { Transport, TransportRequest, TransportResponse } from '../../src/index.ts';
import { tokenCanary } from './canaries.ts';
import { createGate } from './gate.ts';

/** The endpoint's handling of one request. */
export type Answer = (request: TransportRequest) => TransportResponse | Promise<TransportResponse>;

/** A token endpoint behind the documented seam: every request is kept, answers are scripted. */
export interface ScriptedEndpoint {
  readonly transport: Transport;
  readonly requests: readonly TransportRequest[];
  /** The number of tokens that it has issued, even if the answer was lost. */
  readonly issued: number;
  /** Answers of the next requests, in order. Afterwards `otherwise` again. */
  next(...answers: Answer[]): void;
  /** The answer to all other requests. At first: {@link issue}. */
  otherwise(answer: Answer): void;
  /** A new token, as the service's interface has it. */
  readonly issue: Answer;
  /** A new token, with other fields in the body. */
  issueWith(fields: object): Answer;
}

export function createScriptedEndpoint(): ScriptedEndpoint {
  const requests: TransportRequest[] = [];
  const script: Answer[] = [];
  let issued = 0;

  const issueWith =
    (fields: object): Answer =>
    () => {
      issued += 1;
      const token = { access_token: `${tokenCanary}.${issued}`, token_type: 'Bearer', expires_in: 86_400 };
      return answered(200, JSON.stringify({ ...token, ...fields }));
    };
  const issue = issueWith({});
  let usual = issue;

  return {
    requests,
    get issued() {
      return issued;
    },
    async transport(request) {
      requests.push(request);
      return (script.shift() ?? usual)(request);
    },
    next: (...answers) => void script.push(...answers),
    otherwise(answer) {
      usual = answer;
    },
    issue,
    issueWith,
  };
}

/** An answer of the endpoint. */
export function answered(status: number, body = '', headers: Record<string, string> = {}): TransportResponse {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body };
}

/** An endpoint that answers every request alike. */
export const answering =
  (status: number, body = '', headers: Record<string, string> = {}): Answer =>
  () =>
    answered(status, body, headers);

/** A connection that is never made, as Node reports it; without a code, one that fails at an unknown time. */
export const failing =
  (code?: string): Answer =>
  () =>
    Promise.reject(
      Object.assign(new Error('connection failed'), code === undefined ? {} : { code, syscall: 'connect' }),
    );

/** A connection that is silent for ever. */
export const silent: Answer = () => new Promise(() => {});

/** An answer that waits to be released. */
export function gated(answer: Answer): { readonly answer: Answer; release(): void } {
  const { opened, open } = createGate();
  return { answer: (request) => opened.then(() => answer(request)), release: open };
}
