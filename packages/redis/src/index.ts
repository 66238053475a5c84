export type { RedisStoreOptions } from './redis-store.ts';
export { redisStore } from './redis-store.ts';
export type {
  IoRedisClient,
  NodeRedisClient,
  NodeRedisCluster,
  RedisClient,
  UpstashRedisClient,
} from './script-runner.ts';
