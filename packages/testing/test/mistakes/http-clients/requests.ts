import type { AccessToken, TokenSource } from '@service-auth/core';
import type {
  ConnectHttpClient,
  HttpClientRequest,
  HttpClientResponse,
  HttpClientSubject,
} from '../../../src/index.ts';

type Send = HttpClientSubject['request'];

/** Returns a client that differs in one thing from `right`, the client that it wraps. */
export type BreakRequests = (right: HttpClientSubject, baseUrl: string) => Send;

/** Wraps every client that is connected. */
export function breakingRequests(breakRequests: BreakRequests): (connect: ConnectHttpClient) => ConnectHttpClient {
  return (connect) => async (context) => {
    const right = await connect(context);
    const request = breakRequests(right, context.service.baseUrl);
    return { auth: right.auth, request, close: () => right.close() };
  };
}

/** Changes each request before the client gets it. */
export function asking(
  change: (request: HttpClientRequest, baseUrl: string, right: HttpClientSubject) => Partial<HttpClientRequest>,
): (connect: ConnectHttpClient) => ConnectHttpClient {
  return breakingRequests(
    (right, baseUrl) => async (request) => right.request({ ...request, ...change(request, baseUrl, right) }),
  );
}

/** The request without its `Authorization`. */
export function withoutAuthorization({ headers }: HttpClientRequest): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'authorization'));
}

/** The request as a client sends it that has the token, and no adapter. */
export function withToken(request: HttpClientRequest, { authorization }: AccessToken): HttpClientRequest {
  return { ...request, optOut: true, headers: { ...request.headers, authorization } };
}

/** True if an adapter adds the token. */
function getsToken({ url, headers, optOut }: HttpClientRequest, auth: TokenSource): boolean {
  return !optOut && auth.covers(url) && !Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
}

/** The rules of an adapter, one by one. */
export interface Rules {
  waitForToken(auth: TokenSource, request: HttpClientRequest): Promise<AccessToken>;
  /** Reports the 401 that attempt 1 or 2 was answered with. */
  report(auth: TokenSource, token: AccessToken, attempt: number): Promise<void>;
  canResend(request: HttpClientRequest): boolean;
  /** Reports a token that the API accepted. */
  accept(auth: TokenSource, token: AccessToken): void;
}

/** Takes the place of the adapter, with one rule wrong. The client sends, without its adapter. */
export function sendingByHand(wrong: Partial<Rules>): (connect: ConnectHttpClient) => ConnectHttpClient {
  const rules: Rules = {
    waitForToken: (auth, { signal }) => auth.getToken({ signal }),
    report: (auth, token) => auth.invalidate(token),
    canResend: ({ body }) => body?.kind !== 'stream',
    accept: (auth, token) => auth.reportAccepted?.(token),
    ...wrong,
  };
  return breakingRequests((right) => async (request) => {
    if (!getsToken(request, right.auth)) return right.request(request);
    const token = await rules.waitForToken(right.auth, request);
    const first = await right.request(withToken(request, token));
    if (first.status < 400) rules.accept(right.auth, token);
    if (first.status !== 401) return first;
    await rules.report(right.auth, token, 1);
    if (!rules.canResend(request)) return first;
    const next = await rules.waitForToken(right.auth, request);
    const second = await right.request(withToken(request, next));
    if (second.status < 400) rules.accept(right.auth, next);
    if (second.status === 401) await rules.report(right.auth, next, 2);
    return second;
  });
}

/**
 * Sends the first request of the way with `fetch`, and follows no redirect: most clients do not show theirs. `go` sends what comes after it.
 * Requests that an adapter leaves alone, and those with a body that is no string, are left to the client.
 */
export function sendingFirst(
  go: (
    first: Response,
    request: HttpClientRequest,
    token: AccessToken,
    right: HttpClientSubject,
  ) => Promise<HttpClientResponse | undefined>,
): (connect: ConnectHttpClient) => ConnectHttpClient {
  return breakingRequests((right) => async (request): Promise<HttpClientResponse> => {
    const { url, method, signal, body } = request;
    if (!getsToken(request, right.auth) || (body && body.kind !== 'string')) return right.request(request);
    const token = await right.auth.getToken({ signal });
    const { headers } = withToken(request, token);
    const init = { method, headers, body: body?.value ?? null, signal: signal ?? null };
    const first = await fetch(url, { ...init, redirect: 'manual' });
    const answer = await go(first, request, token, right);
    return answer ?? { status: first.status, text: await first.text() };
  });
}
