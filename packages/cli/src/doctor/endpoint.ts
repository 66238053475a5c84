import { fetchTransport, isServiceAuthError } from '@service-auth/core';
import { environmentProxy, isLoopback } from '@service-auth/core/http';
import { type TemporaryCause, temporaryCauseOf } from '@service-auth/core/record';
import { certificateAdvice } from '../line/certificates.ts';
import { type Diagnosis, failure, ok, warning } from '../stores/diagnosis.ts';

const timeoutMs = 8_000;

export interface AskedEndpoint {
  readonly address: string;
  readonly variable: 'SERVICE_AUTH_URL' | 'SERVICE_AUTH_TOKEN_ENDPOINT';
  /** True if token requests are forms. If not, they are JSON. */
  readonly takesForms: boolean;
  readonly headers: Readonly<Record<string, string>> | undefined;
}

/** Asks the token endpoint without credentials, which cannot cost a token. */
export async function examineEndpoint(endpoint: AskedEndpoint): Promise<Diagnosis> {
  const url = new URL(endpoint.address);
  const [type, body] = endpoint.takesForms
    ? ['x-www-form-urlencoded', 'grant_type=client_credentials']
    : ['json', '{}'];
  const headers = new Headers({ accept: 'application/json' });
  const further = Object.entries(endpoint.headers ?? {});
  for (const [name, value] of [...further, ['content-type', `application/${type}`] as const]) headers.set(name, value);
  // A query may have anything in it.
  const shown = `${url.origin}${url.pathname}`;
  const startedAt = performance.now();
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const request = {
      url: endpoint.address,
      method: 'POST',
      headers: Object.fromEntries(headers),
      body,
      signal,
    } as const;
    // As core sends its token requests: without a proxy to loopback.
    const response = await fetchTransport()(request);
    const ms = Math.round(performance.now() - startedAt);
    const { status } = response;
    const redirects = (response.headers as Headers).get('location') !== null || (status >= 300 && status < 400);
    const text = await response.body;
    const error = errorIn(text);
    const temporaryCause = temporaryCauseOf({ status, headers: response.headers, body: text }, text);
    const says = error === undefined ? status : `${status} ${error}`;
    const answered = `${shown} answers ${says} to a request without credentials, in ${ms} ms`;
    return judged(answered, status, redirects, error, temporaryCause, endpoint);
  } catch (error) {
    if (isServiceAuthError(error)) return notRefused(`${shown} answers with a long text`);
    const isDirect = url.protocol === 'http:' && isLoopback(url);
    return unreachable(shown, error, isDirect);
  }
}

/**
 * The error code of an answer. Undefined: there is none, or it has characters that none may have.
 */
function errorIn(text: string): string | undefined {
  try {
    const { error } = Object(JSON.parse(text)) as { error?: unknown };
    return typeof error === 'string' && /^[\x20-\x21\x23-\x5b\x5d-\x7e]{1,64}$/.test(error) ? error : undefined;
  } catch {
    return undefined;
  }
}

function judged(
  answered: string,
  status: number,
  redirects: boolean,
  error: string | undefined,
  temporaryCause: TemporaryCause | undefined,
  { variable, takesForms }: AskedEndpoint,
): Diagnosis {
  if (error === 'unsupported_grant_type' && takesForms) {
    const advice = 'does the provider offer this grant (RFC 6749, section 4.4), at this address?';
    return failure(`${answered}: there is no client-credentials grant`, advice);
  }
  if (temporaryCause === 'rate_limited') {
    const advice = 'this client id or this address asks too often; service-auth explain says who spent tokens.';
    return warning(`${answered}: it limits the rate of requests`, advice);
  }
  if (temporaryCause || status >= 500) return failure(`${answered}: it is failing`, 'ask its provider.');
  if ([400, 401, 403, 422].includes(status) || (status < 300 && error !== undefined)) {
    return ok(`${answered}, as it should. Whether it accepts the credentials, only --issue can tell`);
  }
  if (status === 404 || status === 405) {
    const advice =
      variable === 'SERVICE_AUTH_URL'
        ? 'is SERVICE_AUTH_URL the host that issues tokens, and without /oauth/token?'
        : 'is SERVICE_AUTH_TOKEN_ENDPOINT the whole address of the token endpoint?';
    return failure(`${answered}: there is no token endpoint`, advice);
  }
  if (status === 415) {
    const advice = takesForms
      ? 'does it want JSON? Then unset SERVICE_AUTH_CLIENT_AUTHENTICATION.'
      : 'set SERVICE_AUTH_CLIENT_AUTHENTICATION, such as client_secret_basic: forms are sent then.';
    return failure(`${answered}: it does not take ${takesForms ? 'forms' : 'JSON'}`, advice);
  }
  if (redirects) {
    const advice = `set ${variable} to the address to which it redirects; core follows no redirect with credentials.`;
    return failure(`${answered}: it redirects`, advice);
  }
  return notRefused(answered);
}

function notRefused(answered: string): Diagnosis {
  return warning(`${answered}, where it should refuse`, 'is this a proxy or a login page?');
}

/** Asks the API without a token. Every answer shows that it is there. */
export async function examineApi(baseUrl: string): Promise<Diagnosis> {
  try {
    const { status, body } = await fetch(baseUrl, { redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
    await body?.cancel();
    return ok(
      `${baseUrl} answers ${status} without a token, so it can be reached; whether its paths exist is not checked`,
    );
  } catch (error) {
    return unreachable(baseUrl, error);
  }
}

const advices: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the name is unknown: look for a mistake in it, or in the DNS of this machine.',
  EAI_AGAIN: 'the DNS of this machine does not answer.',
  ECONNREFUSED: 'nothing listens there: look at the host and the port.',
  ECONNRESET: 'something between here and there breaks the connection: a firewall or a proxy.',
  TimeoutError: 'nothing answers: a firewall may drop the packets, or a proxy is needed (NODE_USE_ENV_PROXY=1).',
};

function unreachable(address: string, error: unknown, isDirect = false): Diagnosis {
  const { name, cause } = Object(error) as { name?: string; cause?: { code?: unknown } };
  const code = [cause?.code, name].find((text) => typeof text === 'string') ?? 'unknown error';
  const proxy = isDirect ? undefined : environmentProxy(address);
  const through = proxy?.isUsed ? ` through the proxy of ${proxy.variable}` : '';
  const certificate = certificateAdvice(code, 'set NODE_EXTRA_CA_CERTS');
  const usual = advices[code as string] ?? 'ask its provider.';
  const advice = certificate ?? (proxy ? `${proxy.remark}${proxy.isUsed ? '' : ` Otherwise: ${usual}`}` : usual);
  return failure(`${address} cannot be reached${through} (${code})`, advice);
}
