import { fetchTransport, isServiceAuthError } from '@service-auth/core';
import { environmentProxy, isLoopback } from '@service-auth/core/http';
import { type TemporaryCause, temporaryCauseOf, variables } from '@service-auth/core/record';
import { checked } from '../configuration/client.ts';
import { type Environment, hasClientAuthentication, ownerOf } from '../configuration/environment.ts';
import { readOptions } from '../configuration/reader.ts';
import { certificateAdvice } from '../line/certificates.ts';
import { type Diagnosis, failure, ok, warning } from '../stores/diagnosis.ts';

const timeoutMs = 8_000;

/**
 * Asks the token endpoint without credentials, which cannot cost a token. `counts`: every request
 * counts, so it is not asked.
 */
export async function examineEndpoint(env: Environment, counts: boolean): Promise<readonly Diagnosis[]> {
  const { authUrl, tokenEndpoint } = ownerOf(env);
  const given = tokenEndpoint ?? authUrl;
  if (given === undefined || !isAskable(given)) return [];
  if (counts)
    return [ok(`${new URL(given).origin} was not asked, because the provider counts requests: --issue asks it`)];
  const variable = tokenEndpoint === undefined ? variables.authUrl : variables.tokenEndpoint;
  const address = tokenEndpoint ?? `${given.replace(/(\/oauth\/token)?\/*$/, '')}/oauth/token`;
  const url = new URL(address);
  const takesForms = hasClientAuthentication(env);
  const [type, body] = takesForms ? ['x-www-form-urlencoded', 'grant_type=client_credentials'] : ['json', '{}'];
  // What is wrong with the configuration is told already.
  const further = (await checked(() => readOptions(env), []))?.headers;
  const headers = new Headers({ accept: 'application/json' });
  for (const [name, value] of Object.entries({ ...further, 'content-type': `application/${type}` }))
    headers.set(name, value);
  // A query may have anything in it.
  const shown = `${url.origin}${url.pathname}`;
  const startedAt = performance.now();
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const sent = { url: address, headers: Object.fromEntries(headers), body, signal };
    // As core sends its token requests: without a proxy to loopback.
    const response = await fetchTransport()({ ...sent, method: 'POST' });
    const ms = Math.round(performance.now() - startedAt);
    const { status } = response;
    const redirects = (response.headers as Headers).get('location') !== null || (status >= 300 && status < 400);
    const text = await response.body;
    const error = errorIn(text);
    const temporaryCause = temporaryCauseOf({ status, headers: response.headers, body: text }, text);
    const says = error === undefined ? status : `${status} ${error}`;
    const answered = `${shown} answers ${says} to a request without credentials, in ${ms} ms`;
    return [judged(answered, status, redirects, error, temporaryCause, variable, takesForms)];
  } catch (error) {
    if (isServiceAuthError(error)) return [notRefused(`${shown} answers with a long text`)];
    const isDirect = url.protocol === 'http:' && isLoopback(url);
    return [unreachable(shown, error, isDirect)];
  }
}

/** True of an address that can be asked, and shown because it has no password. */
function isAskable(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, username, password } = new URL(address);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

/** The error code of an answer. Undefined: there is none, or it has forbidden characters. */
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
  variable: string,
  takesForms: boolean,
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
      variable === variables.authUrl
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
export async function examineApi({ SERVICE_BASE_URL: baseUrl }: Environment): Promise<readonly Diagnosis[]> {
  if (baseUrl === undefined) {
    const message = 'SERVICE_BASE_URL is not set, so the token is sent nowhere';
    return [warning(message, 'adapters and the forwarding of service-auth serve need it.')];
  }
  if (!isAskable(baseUrl) || /[?#]/.test(baseUrl)) return [];
  try {
    const { status, body } = await fetch(baseUrl, { redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
    await body?.cancel();
    const reached = 'so it can be reached; whether its paths exist is not checked';
    return [ok(`${baseUrl} answers ${status} without a token, ${reached}`)];
  } catch (error) {
    return [unreachable(baseUrl, error)];
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
