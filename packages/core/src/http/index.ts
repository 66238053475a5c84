// The entry for adapters of HTTP clients.

export { isLoopback } from '../platform/address.ts';
export type { EnvironmentProxy } from '../platform/environment-proxy.ts';
export { environmentProxy } from '../platform/environment-proxy.ts';
export { abortable } from '../platform/pause.ts';
export { ownProperties } from '../platform/untrusted.ts';
export { discardBody, isReplayable, listenToErrors } from './body.ts';
export { checkIsRejected } from './check-is-rejected.ts';
export { checkTokenSource } from './check-token-source.ts';
export { tokenBypassed, tokenNotSent, tokenRejected } from './errors-of-401.ts';
export { hasAuthorization } from './headers.ts';
export { hideAgentRequests } from './hide.ts';
export type { Redirect, RedirectAnswer } from './redirect.ts';
export { isRedirect, redirectTo } from './redirect.ts';
export type { ReplaceRejectedOptions, SendWithTokenOptions } from './send-with-token.ts';
export { acceptsToken, rejectsToken, replaceRejected, sendWithToken, settledToken } from './send-with-token.ts';
export type { ServiceUnavailable } from './service-unavailable.ts';
export { serviceUnavailable } from './service-unavailable.ts';
export { isTokenPending } from './token-pending.ts';
export type { TokenProvider } from './token-provider.ts';
export { tokenProvider } from './token-provider.ts';
