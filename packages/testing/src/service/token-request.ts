import type { ReceivedRequest } from './received-request.ts';

/**
 * The fields of a token request: of JSON, the four of the service's interface (Token request body).
 */
export interface TokenRequestFields {
  /** A form may have none. */
  readonly audience?: string | undefined;
  readonly scope?: string | undefined;
  readonly grant_type: string;
  readonly client_id: string;
  /** Undefined: there is an assertion in its place. */
  readonly client_secret?: string | undefined;
  readonly client_assertion?: string | undefined;
}

/**
 * The mistakes of a token request: the status of its answer, and every problem by name. It contains
 * no values.
 */
export interface TokenRequestProblems {
  readonly status: number;
  readonly problems: readonly string[];
  readonly headers?: Record<string, string> | undefined;
}

const fieldNames = ['audience', 'grant_type', 'client_id', 'client_secret'];
/** Headers that a token request must not have: they would send a credential to the wrong place. */
const strayHeaders = ['authorization', 'proxy-authorization', 'cookie'];

const showName = (name: string): string => JSON.stringify(name.slice(0, 64));

function fieldProblems(fields: object): string[] {
  const unknown = Object.keys(fields).filter((name) => !fieldNames.includes(name));
  return [
    ...fieldNames.flatMap((name) => {
      if (!Object.hasOwn(fields, name)) return `${name}: missing`;
      const value: unknown = Reflect.get(fields, name);
      if (typeof value !== 'string') return `${name}: not a string`;
      return value === '' ? `${name}: empty` : [];
    }),
    ...unknown.map((name) => `${showName(name)}: unknown field`),
  ];
}

function parseObject(body: Buffer): object | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns what is wrong with a token request before its content is read. */
export function problemsOfTarget(request: ReceivedRequest): TokenRequestProblems | undefined {
  if (request.method !== 'POST') {
    return { status: 405, problems: [`method: ${request.method} instead of POST`], headers: { allow: 'POST' } };
  }
  if (request.path !== '/oauth/token') return reject(400, 'path: a query is not part of /oauth/token');
  return undefined;
}

function reject(status: number, ...problems: string[]): TokenRequestProblems {
  return { status, problems };
}

/** Reads a token request exactly as the service's interface describes it. */
export function readTokenRequest(request: ReceivedRequest): TokenRequestFields | TokenRequestProblems {
  const ofTarget = problemsOfTarget(request);
  if (ofTarget) return ofTarget;
  if (request.headers['content-type'] !== 'application/json') return reject(415, 'content-type: not application/json');
  if (request.headers['content-encoding'] !== undefined)
    return reject(415, 'content-encoding: the body must be sent as it is');

  const stray = strayHeaders.filter((name) => name in request.headers).map((name) => `${name}: stray header`);
  const fields = parseObject(request.body);
  if (!fields) return reject(400, ...stray, 'body: not a JSON object in UTF-8');
  const problems = [...stray, ...fieldProblems(fields)];
  return problems.length > 0 ? { status: 400, problems } : (fields as TokenRequestFields);
}
