export type { DurableObjectStoreOptions, LocationHint, WorkersKvIsRefused } from './durable-object-store.ts';
export { durableObjectStore } from './durable-object-store.ts';
export type { DurableObjectNamespaceLike, DurableObjectStateLike, KeyValueNamespaceLike } from './platform.ts';
export { ServiceAuthStore } from './service-auth-store.ts';
