import { createHash } from 'node:crypto';
import { type Exchange, jsonAnswer, type OwnAnswer } from './loopback-server.ts';
import { type ReceivedRequest, recordOf } from './received-request.ts';
import { createScript, type RecordedRequest, type Script, type ScriptedAnswer } from './script.ts';
import type { TokenClaims } from './signing-key.ts';

/** The body of a received request. */
export interface RecordedBody {
  readonly bytes: number;
  /** The SHA-256 of the body, in hexadecimal. */
  readonly sha256: string;
  /** The body decoded as UTF-8. */
  readonly text: string;
}

/**
 * The API's judgement of the `Authorization` header. `valid`: an accepted token; `none`: no header;
 * `invalid`: no token of this service, or more than one header; `audience`: a token for another
 * API; `expired` and `revoked`: a token that was valid before.
 */
export type BearerState = 'valid' | 'none' | 'invalid' | 'expired' | 'revoked' | 'audience';

/** A request to the API. */
export interface RecordedApiRequest extends RecordedRequest {
  readonly body: RecordedBody;
  readonly bearer: BearerState;
  /** The `jti` claim of a token of this service, valid or not. */
  readonly tokenId: string | undefined;
  /** The SHA-256 of the `Authorization` header, in hexadecimal; undefined without a header. */
  readonly authorizationSha256: string | undefined;
}

export interface ApiOptions {
  readonly audience: string;
  /** The claims of a token that this service issued. */
  readonly claimsOf: (token: string) => TokenClaims | undefined;
  readonly isRevoked: (tokenId: string) => boolean;
  readonly onUnauthorized: () => void;
}

export interface Api {
  readonly script: Script<RecordedApiRequest, ScriptedAnswer>;
  readonly requests: readonly RecordedApiRequest[];
  exchange(request: ReceivedRequest): Promise<Exchange>;
}

const sha256 = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex');

// RFC 6750 section 3: the answer to a request without a token names only the scheme.
const challenge = (bearer: BearerState): string => (bearer === 'none' ? 'Bearer' : 'Bearer error="invalid_token"');

/**
 * Creates the API under `/api/v1/`. It checks every bearer token and answers with the request that
 * it received.
 */
export function createApi(options: ApiOptions): Api {
  const script = createScript<RecordedApiRequest, ScriptedAnswer>(false);
  const requests: RecordedApiRequest[] = [];

  function judge(request: ReceivedRequest): { bearer: BearerState; tokenId: string | undefined } {
    const { authorization } = request;
    if (authorization === undefined) return { bearer: 'none', tokenId: undefined };
    const token = /^Bearer ([\w.-]+)$/.exec(authorization)?.[1];
    const claims = token === undefined ? undefined : options.claimsOf(token);
    if (!claims) return { bearer: 'invalid', tokenId: undefined };
    const { jti: tokenId, exp, aud } = claims;
    if (options.isRevoked(tokenId)) return { bearer: 'revoked', tokenId };
    if (request.at >= exp * 1000) return { bearer: 'expired', tokenId };
    return { bearer: aud === options.audience ? 'valid' : 'audience', tokenId };
  }

  function handle(request: RecordedApiRequest, { status }: ScriptedAnswer): OwnAnswer {
    const unauthorized = status === undefined ? request.bearer !== 'valid' : status === 401;
    if (!unauthorized) return jsonAnswer(200, request);
    options.onUnauthorized();
    return jsonAnswer(401, { error: 'invalid_token' }, { 'www-authenticate': challenge(request.bearer) });
  }

  return {
    script,
    requests,
    async exchange(request) {
      const { body, authorization } = request;
      const record: RecordedApiRequest = {
        ...recordOf(request),
        body: { bytes: body.length, sha256: sha256(body), text: body.toString() },
        ...judge(request),
        authorizationSha256: authorization === undefined ? undefined : sha256(authorization),
      };
      requests.push(record);
      const choice = await script.choose(record);
      return { choice, handle: async () => handle(record, choice.answer) };
    },
  };
}
