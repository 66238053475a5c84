import { generateKeyPair, type KeyObject, verify } from 'node:crypto';
import { promisify } from 'node:util';
import type { ReceivedRequest } from './received-request.ts';
import { problemsOfTarget, type TokenRequestFields, type TokenRequestProblems } from './token-request.ts';

/** How clients authenticate, by the registered names. All three send a form. */
export type TestClientAuthentication = 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt';

/** A key pair with which all clients of a service sign their assertions: P-256, ES256. */
export interface ClientKey {
  /** PKCS #8 as PEM. */
  readonly privateKey: string;
  readonly publicKey: KeyObject;
}

let keyOfProcess: Promise<ClientKey> | undefined;

/** Returns the key pair that all services of this process share. */
export function clientKey(): Promise<ClientKey> {
  keyOfProcess ??= promisify(generateKeyPair)('ec', { namedCurve: 'P-256' }).then(({ privateKey, publicKey }) => {
    return { privateKey: String(privateKey.export({ format: 'pem', type: 'pkcs8' })), publicKey };
  });
  return keyOfProcess;
}

const jwtBearer = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const credentialsIn: Readonly<Record<TestClientAuthentication, readonly string[]>> = {
  client_secret_basic: [],
  client_secret_post: ['client_id', 'client_secret'],
  private_key_jwt: ['client_assertion_type', 'client_assertion'],
};
const allCredentials = ['client_id', 'client_secret', 'client_assertion_type', 'client_assertion'];

/** Reads a token request that is a form (RFC 6749 section 4.4.2). */
export function readFormRequest(
  request: ReceivedRequest,
  authentication: TestClientAuthentication,
): TokenRequestFields | TokenRequestProblems {
  const ofTarget = problemsOfTarget(request);
  if (ofTarget) return ofTarget;
  const { 'content-type': type = '' } = request.headers;
  if (!/^application\/x-www-form-urlencoded(;|$)/.test(type))
    return { status: 415, problems: ['content-type: not application/x-www-form-urlencoded'] };
  const form = new URLSearchParams(request.body.toString());
  const problems: string[] = [];
  for (const name of new Set(form.keys())) {
    const values = form.getAll(name);
    if (values.length > 1 && name !== 'resource') problems.push(`${name}: more than one`);
    if (values.includes('')) problems.push(`${name}: empty`);
  }
  const wanted = credentialsIn[authentication];
  problems.push(...['grant_type', ...wanted].filter((name) => !form.has(name)).map((name) => `${name}: missing`));
  // An assertion may come with the id that it is about (RFC 7521 section 4.2).
  const allowed = authentication === 'private_key_jwt' ? ['client_id', ...wanted] : wanted;
  const stray = allCredentials.filter((name) => form.has(name) && !allowed.includes(name));
  problems.push(...stray.map((name) => `${name}: not with ${authentication}`));
  const basic = authentication === 'client_secret_basic' ? pairIn(request.authorization) : undefined;
  if (authentication === 'client_secret_basic' && !basic) problems.push('authorization: no form-encoded pair');
  if (authentication !== 'client_secret_basic' && request.authorization !== undefined)
    problems.push(`authorization: not with ${authentication}`);
  if (form.has('client_assertion_type') && form.get('client_assertion_type') !== jwtBearer)
    problems.push('client_assertion_type: not jwt-bearer');
  if (problems.length > 0) return { status: 400, problems };

  const assertion = form.get('client_assertion') ?? undefined;
  return {
    audience: form.get('audience') ?? undefined,
    scope: form.get('scope') ?? undefined,
    grant_type: form.get('grant_type') ?? '',
    client_id: basic?.[0] ?? form.get('client_id') ?? claimOf(assertion, 'sub'),
    client_secret: basic?.[1] ?? form.get('client_secret') ?? undefined,
    client_assertion: assertion,
  };
}

/** Reads the pair of a Basic header, whose parts are form-encoded (RFC 6749 section 2.3.1). */
function pairIn(authorization = ''): [clientId: string, clientSecret: string] | undefined {
  const text = Buffer.from(/^Basic ([A-Za-z\d+/]+=*)$/.exec(authorization)?.[1] ?? '', 'base64').toString();
  const [, clientId, clientSecret] = /^([^:]+):([^:]+)$/.exec(text) ?? [];
  if (clientId === undefined || clientSecret === undefined) return undefined;
  try {
    return [formDecoded(clientId), formDecoded(clientSecret)];
  } catch {
    return undefined;
  }
}

function formDecoded(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}

function claimOf(assertion: string | undefined, name: string): string {
  return String(partOf(assertion?.split('.')[1])[name] ?? '');
}

function partOf(part = ''): Record<string, unknown> {
  try {
    return Object(JSON.parse(Buffer.from(part, 'base64url').toString()));
  } catch {
    return {};
  }
}

/** Checks the assertions of clients. */
export interface AssertionCheck {
  /**
   * Returns what is wrong with an assertion (RFC 7523 section 3, RFC 10070). An assertion is
   * accepted once.
   */
  problemOf(assertion: string, clientId: string, now: number): string | undefined;
}

export function createAssertionCheck(publicKey: KeyObject, issuer: () => string): AssertionCheck {
  const used = new Set<string>();
  const maxLifeSeconds = 300;
  return {
    problemOf(assertion, clientId, now) {
      const [head = '', payload = '', signature = ''] = assertion.split('.');
      const { alg } = partOf(head);
      const { iss, sub, aud, jti, iat, exp } = partOf(payload);
      if (alg !== 'ES256') return 'alg: not ES256';
      const key = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const;
      if (!verify('sha256', Buffer.from(`${head}.${payload}`), key, Buffer.from(signature, 'base64url')))
        return 'signature: not of the key of this service';
      if (iss !== clientId || sub !== clientId) return 'iss, sub: not the client';
      if (aud !== issuer()) return 'aud: not the issuer alone';
      const seconds = now / 1_000;
      const isValid = typeof exp === 'number' && exp > seconds && exp <= seconds + maxLifeSeconds;
      if (!isValid || typeof iat !== 'number' || iat > seconds + 5) return 'iat, exp: not valid now';
      if (typeof jti !== 'string' || used.has(jti)) return 'jti: missing or used before';
      used.add(jti);
      return undefined;
    },
  };
}
