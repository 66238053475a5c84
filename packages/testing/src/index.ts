export type { BearerState, RecordedApiRequest, RecordedBody } from './api.ts';
export type { TestClient, TestCredentials } from './client-registry.ts';
export type { ContractCase } from './contract-case.ts';
export type { ForeignOrigin, ForeignRequest } from './foreign-origin.ts';
export { startForeignOrigin } from './foreign-origin.ts';
export type {
  ConnectHttpClient,
  HttpClientBody,
  HttpClientBodyKind,
  HttpClientContext,
  HttpClientRequest,
  HttpClientResponse,
  HttpClientSubject,
  HttpClientTraits,
} from './http-client-contract/subject.ts';
export { httpClientContract } from './http-client-contract.ts';
export type { IssuedToken, TestIssuanceLimit } from './issuance-log.ts';
export type { Hold, RecordedRequest, Script, ScriptedAnswer, ScriptedChoice } from './script.ts';
export type { SecretKind } from './secret-finder.ts';
export type { PublicSigningKey, SigningKey, TokenClaims } from './signing-key.ts';
export { createSigningKey } from './signing-key.ts';
export type { OpenStore, StoreSubject } from './store-contract/subject.ts';
export { storeContract } from './store-contract.ts';
export type { PendingTimers, TestClock, TestClockOptions } from './test-clock.ts';
export { createTestClock } from './test-clock.ts';
export type {
  TestClientOptions,
  TestService,
  TestServiceCounts,
  TestServiceOptions,
} from './test-service.ts';
export { startTestService } from './test-service.ts';
export type { RecordedTokenRequest, ScriptedTokenAnswer, TokenRequestOutcome } from './token-endpoint.ts';
