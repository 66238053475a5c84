import type { ClientAuthentication, UnwrittenRequest, WrittenRequest } from '../contract/client-authentication.ts';
import { fromBase64Url } from '../platform/bytes.ts';
import { ownProperties } from '../platform/untrusted.ts';
import { formOf } from './form.ts';
import { unknownOptions } from './unknown-options.ts';

/** The facts that the function of {@link clientAssertion} may need. */
export interface AssertionRequest {
  readonly clientId: string;
  readonly tokenEndpoint: string;
  /** The option `issuer` of the client. */
  readonly issuer?: string | undefined;
  /** Aborts when the assertion would come too late. */
  readonly signal: AbortSignal;
}

/** Options of {@link clientAssertion}. */
export interface ClientAssertionOptions {
  /**
   * The `client_assertion_type`. Default `urn:ietf:params:oauth:client-assertion-type:jwt-bearer`
   * (RFC 7523 section 2.2).
   */
  type?: string | undefined;
}

/** The type of an assertion that is a JWT. */
const jwtBearer = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/**
 * Sends an assertion that another party has signed (RFC 7521 section 4.2): a projected token of
 * Kubernetes, a federated one of Entra ID, an SVID of SPIFFE. `getAssertion` is called before each
 * attempt that may request a token, because the subject of the assertion identifies the credential,
 * and again for the request. White space around its result is removed. If it fails, or the
 * assertion has expired, no request is sent and `getToken()` rejects with `ERR_CLIENT_SECRET`.
 */
export function clientAssertion(
  getAssertion: (request: AssertionRequest) => string | Promise<string>,
  options: ClientAssertionOptions = {},
): ClientAuthentication {
  const { type = jwtBearer } = ownProperties(options);
  return {
    usesSecret: false,
    problems() {
      const problems = unknownOptions(options, ['type']);
      if (typeof getAssertion !== 'function')
        problems.push({ option: 'clientAuthentication', message: 'needs a function that returns the assertion' });
      if (typeof type !== 'string' || !isAbsoluteUri(type))
        problems.push({ option: 'clientAuthentication.type', message: 'must be an absolute URI' });
      return problems;
    },
    credentialId: async (request) => `client_assertion ${type} ${whoIsIn(await assertionFor(request))}`,
    write: async (request) => withAssertion(request, type, await assertionFor(request)),
  };

  async function assertionFor({ clientId, tokenEndpoint, issuer, signal, now }: UnwrittenRequest): Promise<string> {
    return usable(await getAssertion({ clientId, tokenEndpoint, issuer, signal }), now);
  }
}

// The clocks of this machine and of the issuer may differ.
const toleranceMs = 300_000;

/** Returns the assertion, if a server could accept it. */
function usable(given: unknown, now: number): string {
  const assertion = typeof given === 'string' ? given.trim() : '';
  if (!/^[!-~]+$/.test(assertion))
    throw unusable('NO_ASSERTION', 'must be a text of visible ASCII, without white space');
  const { exp } = claimsIn(assertion);
  if (typeof exp === 'number' && exp * 1_000 + toleranceMs < now)
    throw unusable(
      'EXPIRED_ASSERTION',
      `expired ${Math.round(now / 1_000 - exp)} s ago: look at what has to renew it, and at the clock of this machine`,
    );
  return assertion;
}

function unusable(code: string, what: string): Error {
  const advice = `the assertion ${what}`;
  return Object.assign(new TypeError(advice), { code, advice });
}

/**
 * Returns the subject, the audience and the key that a JWT names. They are the same in all
 * assertions of one program. They are null if the text is no JWT.
 */
function whoIsIn(assertion: string): string {
  const { alg, kid } = partOf(assertion, 0);
  const { iss, sub, aud } = claimsIn(assertion);
  return JSON.stringify([alg, kid, iss, sub, aud]);
}

const claimsIn = (jwt: string) => partOf(jwt, 1);

function partOf(jwt: string, index: number): Record<string, unknown> {
  try {
    const json = fromBase64Url(jwt.split('.')[index] ?? '');
    return ownProperties(Object(JSON.parse(json)));
  } catch {
    return {};
  }
}

/** Writes a request with an assertion. */
function withAssertion({ clientId, parameters }: UnwrittenRequest, type: string, assertion: string): WrittenRequest {
  return formOf([
    ...parameters,
    ['client_id', clientId],
    ['client_assertion_type', type],
    ['client_assertion', assertion],
  ]);
}

/** Writes a request with an assertion that is a JWT. */
export const withJwt = (request: UnwrittenRequest, jwt: string): WrittenRequest =>
  withAssertion(request, jwtBearer, jwt);

function isAbsoluteUri(text: string): boolean {
  return /^[a-z][a-z\d+.-]*:[!-~]+$/i.test(text);
}
