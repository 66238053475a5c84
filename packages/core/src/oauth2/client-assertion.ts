import type { ClientAuthentication, UnwrittenRequest, WrittenRequest } from '../contract/client-authentication.ts';
import { ownProperties } from '../platform/untrusted.ts';
import { formOf, probe } from './form.ts';
import { unknownOptions } from './unknown-options.ts';

/** What the function of {@link clientAssertion} may need to know. */
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
  /** The `client_assertion_type`. Default `urn:ietf:params:oauth:client-assertion-type:jwt-bearer` (RFC 7523 section 2.2). */
  type?: string | undefined;
}

/** The type of an assertion that is a JWT. */
const jwtBearer = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/**
 * Sends an assertion that somebody else has signed (RFC 7521 section 4.2): a projected token of Kubernetes, a federated one of Entra ID, an SVID of SPIFFE.
 * `getAssertion` is called for each request, and white space around its result is removed. If it fails, no request is sent and `getToken()` rejects with
 * `ERR_CLIENT_SECRET`.
 */
export function clientAssertion(
  getAssertion: (request: AssertionRequest) => string | Promise<string>,
  options: ClientAssertionOptions = {},
): ClientAuthentication {
  const { type = jwtBearer } = ownProperties(options);
  return {
    usesSecret: false,
    probe,
    problems() {
      const problems = unknownOptions(options, ['type']);
      if (typeof getAssertion !== 'function')
        problems.push({ option: 'clientAuthentication', message: 'needs a function that returns the assertion' });
      if (typeof type !== 'string' || !isAbsoluteUri(type))
        problems.push({ option: 'clientAuthentication.type', message: 'must be an absolute URI' });
      return problems;
    },
    async write(request) {
      const { clientId, tokenEndpoint, issuer, signal } = request;
      return withAssertion(request, type, await getAssertion({ clientId, tokenEndpoint, issuer, signal }));
    },
  };
}

/** Writes a request with an assertion. */
function withAssertion({ clientId, parameters }: UnwrittenRequest, type: string, given: unknown): WrittenRequest {
  const assertion = typeof given === 'string' ? given.trim() : '';
  if (!/^[!-~]+$/.test(assertion)) {
    throw Object.assign(new TypeError('The assertion must be a text of visible ASCII.'), { code: 'NO_ASSERTION' });
  }
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
