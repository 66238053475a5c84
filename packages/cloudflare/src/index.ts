export type { DurableObjectStoreOptions } from './durable-object-store.ts';
export { durableObjectStore } from './durable-object-store.ts';
export type { DurableObjectNamespaceLike } from './platform.ts';
export { ServiceAuthStore } from './service-auth-store.ts';
