export { ownProperties } from '../foreign.ts';
export { discardBody, isReplayable } from './body.ts';
export { hideAgentRequests, hideProperty } from './hide.ts';
export type { Redirect, RedirectAnswer } from './redirect.ts';
export { isRedirect, redirectTo } from './redirect.ts';
export type { ReplaceRejectedOptions, SendWithTokenOptions } from './send-with-token.ts';
export { replaceRejected, sendWithToken } from './send-with-token.ts';
export type { ServiceUnavailable } from './service-unavailable.ts';
export { serviceUnavailable } from './service-unavailable.ts';
