import type { Store } from '@service-auth/core';
import { type RedisClient, scriptRunner } from './script-runner.ts';

/** Options of {@link redisStore}. */
export interface RedisStoreOptions {
  /** Put before every key. Default `service-auth:`. */
  prefix?: string | undefined;
}

// TIME is not frozen within a script, and reading it before a write is allowed since effects are replicated (Redis 5).
const clock = `local t = redis.call('TIME'); local now = t[1] * 1000 + math.floor(t[2] / 1000)`;

const load = `${clock}
local row = redis.call('HMGET', KEYS[1], 'version', 'record')
return {now, row[1], row[2]}`;

// Redis clients may send a script again whose reply was lost: a change that is there already was made by this very call.
const swap = `${clock}
local present = redis.call('HGET', KEYS[1], 'version') or ''
if present == ARGV[2] then return {now, 1} end
if present ~= ARGV[1] then return {now, 0} end
redis.call('HSET', KEYS[1], 'version', ARGV[2], 'record', ARGV[3])
redis.call('PERSIST', KEYS[1])
return {now, 1}`;

// Not everybody may call INFO, and managed Redis answers less: what cannot be read is not warned of.
const inspect = `local memory = redis.pcall('INFO', 'memory'); local persistence = redis.pcall('INFO', 'persistence')
local policy = type(memory) == 'string' and memory:match('maxmemory_policy:([%w-]+)') or ''
local aof = type(persistence) == 'string' and persistence:match('aof_enabled:(%d)') or ''
return {policy, aof}`;

/**
 * Keeps records in Redis or Valkey (6.2 and newer): single, Sentinel or Cluster, given as a node-redis 4 to 6, ioredis 5 to 6 or iovalkey client.
 * One key for each client of the service, one script for each operation, no expiry. Replication is asynchronous, so core keeps half of the limit back.
 * Both methods reject when the server does not answer, is loading, read-only, out of memory or a cluster without that slot.
 */
export function redisStore(client: RedisClient, { prefix = 'service-auth:' }: RedisStoreOptions = {}): Store {
  const run = scriptRunner(client);
  let warnings: Promise<string[]> | undefined;
  return {
    durability: 'replicated',
    async load(key, { signal } = {}) {
      const [now, version, record] = await run(load, prefix + key, [], signal);
      warnings ??= run(inspect, prefix + key, [], signal).then(warningsOf, () => []);
      const found = typeof version === 'string' && typeof record === 'string' ? { version, record } : {};
      return { ...found, now: Number(now), warnings: await warnings };
    },
    async swap(key, { expected = '', version, record }, { signal } = {}) {
      const [now, swapped] = await run(swap, prefix + key, [expected, version, record], signal);
      return { swapped: Number(swapped) === 1, now: Number(now) };
    },
  };
}

function warningsOf([policy, aof]: unknown[]): string[] {
  const warnings: string[] = [];
  if (String(policy).startsWith('allkeys')) {
    warnings.push(`maxmemory-policy is ${policy}: Redis may evict the record. Set it to noeviction or volatile-lru.`);
  }
  if (aof === '0') {
    warnings.push('appendonly is off: a restart of Redis may forget the newest tokens. Turn it on.');
  }
  return warnings;
}
