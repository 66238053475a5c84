export type { TestClock } from './clock/test-clock.ts';
export { createTestClock } from './clock/test-clock.ts';
export type { ContractCase } from './contract/contract-case.ts';
export { httpClientContract } from './http-client-contract/http-client-contract.ts';
export type {
  ConnectHttpClient,
  HttpClientBody,
  HttpClientBodyKind,
  HttpClientRequest,
  HttpClientResponse,
  HttpClientSubject,
} from './http-client-contract/subject.ts';
export type { RecordedApiRequest } from './service/api.ts';
export type { TestClient } from './service/client-registry.ts';
export type { ForeignOrigin } from './service/foreign-origin.ts';
export { startForeignOrigin } from './service/foreign-origin.ts';
export type { ScriptedAnswer } from './service/script.ts';
export type { TestService, TestServiceCounts, TestServiceOptions } from './service/test-service.ts';
export { startTestService } from './service/test-service.ts';
export type { RecordedTokenRequest, ScriptedTokenAnswer } from './service/token-endpoint.ts';
export { storeContract } from './store-contract/store-contract.ts';
export type { OpenStore, StoreSubject } from './store-contract/subject.ts';
