export { createServiceAuthFromEnv, optionsFromEnv } from './client/env.ts';
export type { ServiceAuth } from './client/service-auth.ts';
export { createServiceAuth } from './client/service-auth.ts';
export type { AccessToken } from './contract/access-token.ts';
export type { ClientAuthentication, UnwrittenRequest, WrittenRequest } from './contract/client-authentication.ts';
export type {
  AnyServiceAuthError,
  ConfigProblem,
  ServiceAuthErrorCode,
  ServiceAuthErrorFields,
  TokenResponseReason,
  TokenWait,
} from './contract/errors.ts';
export { isServiceAuthError, ServiceAuthError } from './contract/errors.ts';
export type { ServiceAuthEventLevel } from './contract/event-level.ts';
export { eventLevel } from './contract/event-level.ts';
export type {
  AcquisitionReason,
  AgreedWindow,
  ServiceAuthEvent,
  ServiceAuthEventFields,
  ServiceAuthEventListener,
  ServiceAuthEventType,
  SubscribeOptions,
  TokenResponseWarning,
} from './contract/events.ts';
export type { IssuanceLimit, IssuanceWindow } from './contract/issuance-limit.ts';
export type { ServiceAuthOptions, TokenOptions } from './contract/options.ts';
export type {
  Store,
  StoreCallOptions,
  StoreChange,
  StoreSnapshot,
  StoreSwapResult,
} from './contract/store.ts';
export type { GetTokenOptions, TokenSource } from './contract/token-source.ts';
export type { Transport, TransportRequest, TransportResponse } from './contract/transport.ts';
export type { FetchTransportOptions } from './endpoint/fetch-transport.ts';
export { fetchTransport } from './endpoint/fetch-transport.ts';
export type { StoreDurability } from './ledger/limits.ts';
export type { OAuthErrorCode } from './ledger/oauth-error.ts';
export type { IssuanceReason } from './ledger/record.ts';
export type { Clock } from './platform/clock.ts';
export type { MemoryStoreOptions } from './record/memory-store.ts';
export { memoryStore } from './record/memory-store.ts';
export type { ResetOptions, ResetResult, RetryResult } from './usage/administration.ts';
export type {
  Hold,
  Issuance,
  QuotaUsage,
  ResetInfo,
  SpentElsewhereInfo,
  TokenInUse,
  Usage,
  WindowUsage,
} from './usage/usage.ts';
export type { UsageReader, UsageReaderOptions } from './usage/usage-reader.ts';
export { createUsageReader } from './usage/usage-reader.ts';
