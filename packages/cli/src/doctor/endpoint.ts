import { connect } from 'node:tls';
import { certificateAdvice } from '../line/certificates.ts';
import type { Diagnosis } from '../stores/address.ts';

const timeoutMs = 8_000;
const day = 86_400_000;

/** Asks the token endpoint without credentials, which cannot cost a token. Its address was checked before. */
export async function examineEndpoint(endpoint: string): Promise<readonly Diagnosis[]> {
  const url = new URL(endpoint);
  const [answer, certificate] = await Promise.all([askedWithoutCredentials(endpoint), examineCertificate(url)]);
  return [answer, ...certificate];
}

async function askedWithoutCredentials(endpoint: string): Promise<Diagnosis> {
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  const startedAt = performance.now();
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const {
      status,
      body,
      headers: answered,
    } = await fetch(endpoint, { method: 'POST', headers, body: '{}', redirect: 'manual', signal });
    await body?.cancel();
    return judged(endpoint, status, Math.round(performance.now() - startedAt), answered.get('location') !== null);
  } catch (error) {
    return { state: 'failure', ...unreachable(endpoint, error) };
  }
}

function judged(endpoint: string, status: number, ms: number, redirects: boolean): Diagnosis {
  const answered = `${endpoint} answers ${status} to a request without credentials, in ${ms} ms`;
  if (status === 400 || status === 401 || status === 403 || status === 422) {
    return {
      state: 'ok',
      message: `${answered}, as it should. Whether it accepts the credentials, only --issue can tell`,
    };
  }
  if (status === 404 || status === 405) {
    const advice = 'is SERVICE_AUTH_URL the host that issues tokens, and without /oauth/token?';
    return { state: 'failure', message: `${answered}: there is no token endpoint`, advice };
  }
  if (redirects || (status >= 300 && status < 400)) {
    const advice =
      'set SERVICE_AUTH_URL to the address to which it redirects; core follows no redirect with credentials.';
    return { state: 'failure', message: `${answered}: it redirects`, advice };
  }
  if (status === 429) {
    const advice = 'somebody asks too often; see service-auth explain.';
    return { state: 'warning', message: answered, advice };
  }
  if (status >= 500) return { state: 'failure', message: `${answered}: it does not work`, advice: 'ask its operator.' };
  return {
    state: 'warning',
    message: `${answered}, where it should refuse`,
    advice: 'is this a proxy or a login page?',
  };
}

async function examineCertificate(url: URL): Promise<Diagnosis[]> {
  if (url.protocol !== 'https:') return [];
  const expiresAt = await new Promise<number | undefined>((resolve) => {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    // A certificate that is not valid is told by the request itself.
    const socket = connect({ host, port: Number(url.port || 443), servername: host, rejectUnauthorized: false }, () => {
      resolve(Date.parse(socket.getPeerCertificate().valid_to));
      socket.destroy();
    });
    socket.setTimeout(timeoutMs, () => socket.destroy());
    socket.on('close', () => resolve(undefined)).on('error', () => {});
  });
  if (expiresAt === undefined || Number.isNaN(expiresAt)) return [];
  const days = Math.floor((expiresAt - Date.now()) / day);
  const message = `the certificate of ${url.host} is valid for ${days} more days`;
  return [days < 14 ? { state: 'warning', message, advice: 'tell its operator.' } : { state: 'ok', message }];
}

/** Asks the API without a token. Every answer shows that it is there. */
export async function examineApi(baseUrl: string): Promise<readonly Diagnosis[]> {
  try {
    const { status, body } = await fetch(baseUrl, { redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
    await body?.cancel();
    return [{ state: 'ok', message: `${baseUrl} answers ${status} without a token` }];
  } catch (error) {
    return [{ state: 'failure', ...unreachable(baseUrl, error) }];
  }
}

const advices: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the name is unknown: look for a mistake in it, or in the DNS of this machine.',
  EAI_AGAIN: 'the DNS of this machine does not answer.',
  ECONNREFUSED: 'nothing listens there: look at the host and the port.',
  ECONNRESET: 'something between here and there breaks the connection: a firewall or a proxy.',
  TimeoutError: 'nothing answers: a firewall may drop the packets, or a proxy is needed (NODE_USE_ENV_PROXY=1).',
};
function unreachable(address: string, error: unknown): { message: string; advice: string } {
  const { name, cause } = Object(error) as { name?: string; cause?: { code?: string } };
  const code = cause?.code ?? name ?? 'unknown error';
  const advice = certificateAdvice(code, 'set NODE_EXTRA_CA_CERTS') ?? advices[code] ?? 'ask its operator.';
  return { message: `${address} cannot be reached (${code})`, advice };
}
