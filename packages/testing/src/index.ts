export { clearMemoryStore } from './clear-memory-store.ts';
export type { PendingTimers, TestClock, TestClockOptions } from './clock/test-clock.ts';
export { createTestClock } from './clock/test-clock.ts';
export type { ContractCase } from './contract/contract-case.ts';
export { httpClientContract } from './http-client-contract/http-client-contract.ts';
export type {
  ConnectHttpClient,
  HttpClientBody,
  HttpClientBodyKind,
  HttpClientContext,
  HttpClientIsRejected,
  HttpClientRequest,
  HttpClientResponse,
  HttpClientSubject,
  HttpClientTraits,
} from './http-client-contract/subject.ts';
export type { BearerState, RecordedApiRequest, RecordedBody } from './service/api.ts';
export type { TestClientAuthentication } from './service/client-authentication.ts';
export type { TestClient, TestCredentials } from './service/client-registry.ts';
export type { TestClientOptions } from './service/client-settings.ts';
export type { ForeignOrigin, ForeignRequest } from './service/foreign-origin.ts';
export { startForeignOrigin } from './service/foreign-origin.ts';
export type { IssuedToken, TestIssuanceLimit } from './service/issuance-log.ts';
export type { PausedRequest, RecordedRequest, Script, ScriptedAnswer, ScriptedChoice } from './service/script.ts';
export type { SecretKind } from './service/secret-finder.ts';
export type { TestService, TestServiceCounts, TestServiceOptions } from './service/test-service.ts';
export { startTestService } from './service/test-service.ts';
export type { RecordedTokenRequest, ScriptedTokenAnswer, TokenRequestOutcome } from './service/token-endpoint.ts';
export { storeContract } from './store-contract/store-contract.ts';
export type { OpenStore, StoreContext, StoreSubject } from './store-contract/subject.ts';
