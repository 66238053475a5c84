export type { AccessToken } from './access-token.ts';
export type { ResetOptions, ResetResult, RetryResult } from './administration.ts';
export type { Clock } from './clock.ts';
export { createServiceAuthFromEnv, optionsFromEnv } from './env.ts';
export type {
  AnyServiceAuthError,
  ConfigProblem,
  ServiceAuthErrorCode,
  ServiceAuthErrorFields,
  TokenResponseReason,
} from './errors.ts';
export { isServiceAuthError, ServiceAuthError } from './errors.ts';
export type {
  AcquisitionReason,
  AgreedWindow,
  ServiceAuthEvent,
  ServiceAuthEventFields,
  ServiceAuthEventListener,
  ServiceAuthEventType,
  SubscribeOptions,
  TokenResponseWarning,
} from './events.ts';
export type { FetchTransportOptions } from './fetch-transport.ts';
export { fetchTransport } from './fetch-transport.ts';
export type { IssuanceLimit, IssuanceWindow } from './issuance-limit.ts';
export type { StoreDurability } from './ledger/limits.ts';
export type { OAuthErrorCode } from './ledger/oauth-error.ts';
export type { IssuanceReason } from './ledger/record.ts';
export type { MemoryStoreOptions } from './memory-store.ts';
export { memoryStore } from './memory-store.ts';
export type { ServiceAuthOptions } from './options.ts';
export { createServiceAuth } from './service-auth.ts';
export type {
  Store,
  StoreCallOptions,
  StoreChange,
  StoreSnapshot,
  StoreSwapResult,
} from './store.ts';
export type { GetTokenOptions, ServiceAuth, TokenSource } from './token-source.ts';
export type { Transport, TransportRequest, TransportResponse } from './transport.ts';
export type { Hold, Issuance, ResetInfo, SpentElsewhereInfo, TokenInUse, Usage, WindowUsage } from './usage.ts';
export type { UsageReader, UsageReaderOptions } from './usage-reader.ts';
export { createUsageReader } from './usage-reader.ts';
