export type { RedisStoreOptions } from './redis-store.ts';
export { redisStore } from './redis-store.ts';
export type { RedisClient } from './script-runner.ts';
