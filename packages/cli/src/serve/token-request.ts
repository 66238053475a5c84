import { type Answer, invalidRequest, refusal } from './answer.ts';
import { isSame } from './guards.ts';
import { type RequestHead, valuesOf } from './request-head.ts';

/** The credentials that callers must present, and what they may ask for. */
export interface ExpectedClient {
  readonly clientId: string;
  /** Undefined: there is none, and no caller is let in. */
  readonly secret: string | undefined;
  /** The scope of the shared token. Undefined: it has none. */
  readonly scope?: string | undefined;
}

interface Credentials {
  readonly clientId: string;
  readonly secret: string;
}

const withoutSecret =
  'There is no client secret here that a caller could authenticate by. GET /token on a socket, or with the key, has the token.';

type Fields = Readonly<Record<string, string>>;

/** A token request that is in order, or the answer that says what is wrong with it. */
export type TokenRequest =
  | { readonly audience: string; readonly answer?: never }
  | { readonly audience?: never; readonly answer: Answer };

/**
 * Reads a token request (RFC 6749 section 4.4.2), as a form or as JSON. `audiences`: those that
 * tokens are issued for; the first one is the default.
 */
export function readTokenRequest(
  head: RequestHead,
  body: string,
  expected: ExpectedClient,
  audiences: readonly string[],
): TokenRequest {
  const fields = fieldsOf(mediaTypeOf(head), body);
  if (typeof fields === 'string') return { answer: invalidRequest(fields) };
  const readings = credentialsOf(valuesOf(head, 'authorization'), fields);
  if (typeof readings === 'string') return { answer: invalidRequest(readings) };
  if (!fields['grant_type']) return { answer: invalidRequest('The parameter grant_type is missing.') };
  if (expected.secret === undefined) return { answer: invalidClient(withoutSecret) };
  if (!isExpected(readings, { ...expected, secret: expected.secret }))
    return { answer: invalidClient('The client id or the client secret is wrong.') };
  if (fields['grant_type'] !== 'client_credentials') {
    return { answer: refusal(400, 'unsupported_grant_type', 'The grant_type must be client_credentials.') };
  }
  if (fields['scope'] && !isSameScope(fields['scope'], expected.scope)) {
    const description = expected.scope
      ? 'The shared token has the scopes of SERVICE_AUTH_SCOPE: send these, or none.'
      : 'The shared token has no scopes: send no scope.';
    return { answer: refusal(400, 'invalid_scope', description) };
  }
  const audience = audienceOf([fields['audience'], fields['resource']], audiences);
  return audience === undefined ? { answer: invalidTarget() } : { audience };
}

/** Returns the audience that is asked for, or the default. Undefined: there is no such one. */
export function audienceOf(asked: readonly (string | undefined)[], audiences: readonly string[]): string | undefined {
  const names = new Set(asked.filter((name) => name));
  const [name = audiences[0] ?? ''] = names;
  return names.size <= 1 && audiences.includes(name) ? name : undefined;
}

/** RFC 8707 section 2. */
export function invalidTarget(): Answer {
  return refusal(
    400,
    'invalid_target',
    'There are no tokens for this audience. SERVICE_AUTH_AUDIENCE lists those there are.',
  );
}

function invalidClient(description: string): Answer {
  return refusal(401, 'invalid_client', description, {
    'www-authenticate': 'Basic realm="service-auth", charset="UTF-8"',
  });
}

function mediaTypeOf(head: RequestHead): string {
  const [type = ''] = valuesOf(head, 'content-type');
  return type.replace(/;.*/s, '').trim().toLowerCase();
}

/** The parameters, or what is wrong with them. An empty one is left out (RFC 6749 section 3.2). */
function fieldsOf(mediaType: string, body: string): Fields | string {
  if (mediaType === 'application/json') return fieldsOfJson(body);
  if (mediaType === 'application/x-www-form-urlencoded') return fieldsOfForm(body);
  return 'The Content-Type must be application/x-www-form-urlencoded or application/json.';
}

function fieldsOfForm(body: string): Fields | string {
  const fields: Record<string, string> = Object.create(null);
  for (const [name, value] of new URLSearchParams(body)) {
    if (name in fields) return 'A parameter is given twice.';
    fields[name] = value;
  }
  return fields;
}

function fieldsOfJson(body: string): Fields | string {
  try {
    const fields: unknown = JSON.parse(body);
    const isObject = typeof fields === 'object' && fields !== null && !Array.isArray(fields);
    const isText = isObject && Object.values(fields).every((value) => typeof value === 'string');
    return isText
      ? Object.assign(Object.create(null), fields)
      : 'The body must be a JSON object whose values are strings.';
  } catch {
    return 'The body is not JSON.';
  }
}

/**
 * The credentials as they may have been meant: many clients do not encode those of Basic as RFC
 * 6749 section 2.3.1 says. A text says what is wrong.
 */
function credentialsOf(authorization: readonly string[], fields: Fields): readonly Credentials[] | string {
  const { client_id: clientId = '', client_secret: secret = '' } = fields;
  const [header] = authorization;
  if (header === undefined) return [{ clientId, secret }];
  if (authorization.length > 1 || secret) return 'The client must authenticate in one way only.';
  const basic = /^basic +(?<credentials>[a-z\d+/]+=*) *$/i.exec(header)?.groups?.['credentials'];
  if (basic === undefined) return [];
  const readings = readingsOfBasic(Buffer.from(basic, 'base64').toString());
  if (clientId && !readings.some((reading) => reading.clientId === clientId)) {
    return 'The parameter client_id is not that of the Authorization header.';
  }
  return readings;
}

function readingsOfBasic(credentials: string): Credentials[] {
  const colon = credentials.indexOf(':');
  if (colon === -1) return [];
  const raw = { clientId: credentials.slice(0, colon), secret: credentials.slice(colon + 1) };
  try {
    return [{ clientId: formDecoded(raw.clientId), secret: formDecoded(raw.secret) }, raw];
  } catch {
    return [raw];
  }
}

function formDecoded(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}

/** Compares every reading whole, so that the time says nothing about them. */
function isExpected(readings: readonly Credentials[], { clientId, secret }: Credentials): boolean {
  const results = readings.map((reading) => [isSame(reading.clientId, clientId), isSame(reading.secret, secret)]);
  return results.some((both) => both.every(Boolean));
}

/** The order of scopes means nothing (RFC 6749 section 3.3). */
function isSameScope(asked: string, scope: string | undefined): boolean {
  const sorted = (text: string) => [...new Set(text.split(' ').filter(Boolean))].sort().join(' ');
  return scope !== undefined && sorted(asked) === sorted(scope);
}
