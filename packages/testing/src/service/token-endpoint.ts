import { randomUUID } from 'node:crypto';
import type { Clock } from '@service-auth/core';
import { type AssertionCheck, readFormRequest, type TestClientAuthentication } from './client-authentication.ts';
import { type ClientRegistry, secretsOf } from './client-registry.ts';
import type { IssuanceLog } from './issuance-log.ts';
import { type Exchange, jsonAnswer, type OwnAnswer } from './loopback-server.ts';
import { type ReceivedRequest, recordOf } from './received-request.ts';
import { createScript, type RecordedRequest, type Script, type ScriptedAnswer } from './script.ts';
import { type SigningKey, signingKey, type TokenClaims } from './signing-key.ts';
import { readTokenRequest, type TokenRequestFields } from './token-request.ts';

/** A scripted answer of the token endpoint. */
export interface ScriptedTokenAnswer extends ScriptedAnswer {
  /**
   * Whether a valid request has a token issued and counted although the answer is scripted.
   * Default: true if `status` is 2xx or not set, otherwise false.
   */
  readonly issue?: boolean | undefined;
  /**
   * Fields of the token response to replace or add, with any JSON value. Undefined removes a field.
   */
  readonly fields?: Readonly<Record<string, unknown>> | undefined;
  /** The lifetime of this token, in milliseconds. Default: that of the service. */
  readonly lifetimeMs?: number | undefined;
}

/**
 * The outcome of a token request. `issued`: a token was issued, even if its answer was scripted;
 * `refused`: the limit is reached; `rejected`: the request or its credentials are wrong;
 * `scripted`: the scripted answer issued nothing; `pending`: the request was not handled, because
 * it is paused or its connection was cut before.
 */
export type TokenRequestOutcome = 'issued' | 'refused' | 'rejected' | 'scripted' | 'pending';

/** A request to the token endpoint. */
export interface RecordedTokenRequest extends RecordedRequest {
  readonly outcome: TokenRequestOutcome;
  /** The mistakes of the request, with the names of fields and headers but without values. */
  readonly problems: readonly string[];
}

export interface TokenEndpointOptions {
  readonly clock: Clock;
  readonly clients: ClientRegistry;
  readonly issuer: () => string;
  readonly log: IssuanceLog;
  /** Undefined: JSON with the secret, as the service's interface describes it. */
  readonly authentication: TestClientAuthentication | undefined;
  readonly assertions: AssertionCheck;
  readonly lifetimeMs: number;
  /** The header of an answer to this client. Undefined: the provider says nothing of its count. */
  readonly quota: ((clientId: string, now: number) => string) | undefined;
  /** Called with the value of each token when it is issued. */
  readonly onIssued: (token: string, claims: TokenClaims) => void;
}

export interface TokenEndpoint {
  readonly script: Script<RecordedTokenRequest, ScriptedTokenAnswer>;
  readonly requests: readonly RecordedTokenRequest[];
  exchange(request: ReceivedRequest): Promise<Exchange>;
}

type Writable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

interface ErrorResponse {
  readonly status: number;
  readonly error: string;
  readonly description: string;
  readonly headers?: Record<string, string> | undefined;
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** The error response of RFC 6749 section 5.2. */
const errorAnswer = ({ status, error, description, headers }: ErrorResponse): OwnAnswer =>
  jsonAnswer(status, { error, error_description: description }, headers);

export function createTokenEndpoint(options: TokenEndpointOptions): TokenEndpoint {
  const { clock, clients, log, authentication, assertions, quota } = options;
  const script = createScript<RecordedTokenRequest, ScriptedTokenAnswer>(true);
  const requests: Writable<RecordedTokenRequest>[] = [];

  /** The reason why the client gets no token. The checks have the order of a real service. */
  function objection(fields: TokenRequestFields, now: number): ErrorResponse | undefined {
    if (fields.grant_type !== 'client_credentials') {
      return { status: 400, error: 'unsupported_grant_type', description: 'grant_type: not client_credentials' };
    }
    const client = clients.find(fields.client_id);
    if (!client) return { status: 401, error: 'invalid_client', description: 'client_id: unknown' };
    const { client_secret: secret, client_assertion: assertion = '' } = fields;
    const wrong =
      secret === undefined
        ? assertions.problemOf(assertion, client.clientId, now)
        : secretsOf(client).includes(secret)
          ? undefined
          : 'client_secret: wrong';
    if (wrong) return { status: 401, error: 'invalid_client', description: wrong };
    if (fields.audience === undefined || client.audiences.includes(fields.audience)) return undefined;
    return { status: 403, error: 'access_denied', description: 'audience: not one of this client' };
  }

  function overLimit(clientId: string, now: number): ErrorResponse | undefined {
    const until = log.refusedUntil(clientId, now);
    if (until === undefined) return undefined;
    const headers = { 'retry-after': String(Math.max(1, Math.ceil((until - now) / 1000))) };
    return { status: 429, error: 'too_many_requests', description: 'the limit of this client is reached', headers };
  }

  function issue(key: SigningKey, fields: TokenRequestFields, at: number, answer: ScriptedTokenAnswer): OwnAnswer {
    const { client_id: clientId, scope } = fields;
    const audience = fields.audience ?? clients.find(clientId)?.audiences[0] ?? '';
    const lifetime = Math.floor((answer.lifetimeMs ?? options.lifetimeMs) / 1000);
    const iat = Math.floor(at / 1000);
    const tokenId = randomUUID();
    const iss = options.issuer();
    const claims = { iss, sub: `${clientId}@clients`, aud: audience, iat, exp: iat + lifetime, jti: tokenId };
    const token = key.sign(claims);
    log.add({ at, clientId, audience, tokenId });
    options.onIssued(token, claims);
    const granted = scope === undefined ? {} : { scope };
    const body = { access_token: token, token_type: 'Bearer', expires_in: lifetime, ...granted, ...answer.fields };
    return jsonAnswer(200, body, { 'cache-control': 'no-store' });
  }

  async function handle(
    request: ReceivedRequest,
    record: Writable<RecordedTokenRequest>,
    answer: ScriptedTokenAnswer,
  ): Promise<OwnAnswer> {
    // Wait for the key first, so that no other request runs between the check of the limit and the
    // count.
    const key = await signingKey();
    const now = clock.now();
    const status = answer.status ?? 200;
    const scripted = jsonAnswer(status, { error: 'scripted' });
    const end = (outcome: TokenRequestOutcome, own: OwnAnswer, problems: readonly string[] = []): OwnAnswer => {
      record.outcome = outcome;
      record.problems = problems;
      const said = clientId !== undefined && clients.find(clientId) && quota?.(clientId, now);
      return said ? { ...own, headers: { ...own.headers, 'auth0-client-quota-limit': said } } : own;
    };

    const fields = authentication ? readFormRequest(request, authentication) : readTokenRequest(request);
    const clientId = 'problems' in fields ? undefined : fields.client_id;
    const over = clientId === undefined ? undefined : overLimit(clientId, now);
    log.arrived(clientId, now);
    if ('problems' in fields) {
      const { status, problems, headers } = fields;
      const response = { status, error: 'invalid_request', description: problems.join('; '), headers };
      return end('rejected', errorAnswer(response), problems);
    }
    if (!(answer.issue ?? isSuccess(status))) return end('scripted', scripted);
    const wrong = objection(fields, now);
    if (wrong) return end('rejected', errorAnswer(wrong), [wrong.description]);
    if (over) return end('refused', errorAnswer(over));
    const own = issue(key, fields, now, answer);
    return end('issued', isSuccess(status) ? own : scripted);
  }

  return {
    script,
    requests,
    async exchange(request) {
      const record: Writable<RecordedTokenRequest> = { ...recordOf(request), outcome: 'pending', problems: [] };
      requests.push(record);
      const choice = await script.choose(record);
      return { choice, handle: () => handle(request, record, choice.answer) };
    },
  };
}
