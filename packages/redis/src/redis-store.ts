import type { Store } from '@service-auth/core';
import { checkClient, defineScript, type RedisClient } from './script-runner.ts';

/** Options of {@link redisStore}. */
export interface RedisStoreOptions {
  /** Put before every key. Default `service-auth:`. */
  prefix?: string | undefined;
}

// TIME is not frozen within a script, and reading it before a write is allowed since effects are replicated (Redis 5).
const clock = `local t = redis.call('TIME'); local now = t[1] * 1000 + math.floor(t[2] / 1000)`;

// Not everybody may call INFO, and managed Redis answers less: what cannot be read is not warned of.
const loadScript = `${clock}
local row = redis.call('HMGET', KEYS[1], 'version', 'record')
if ARGV[1] == '0' then return {now, row[1], row[2]} end
local function info(section, pattern)
  local text = redis.pcall('INFO', section)
  return type(text) == 'string' and text:match(pattern) or ''
end
return {now, row[1], row[2], info('memory', 'maxmemory_policy:([%w-]+)'), info('persistence', 'aof_enabled:(%d)')}`;

// Redis clients may send a script again whose reply was lost: a change that is there already was made by this very call.
const swapScript = `${clock}
local present = redis.call('HGET', KEYS[1], 'version') or ''
if present == ARGV[2] then return {now, 1} end
if present ~= ARGV[1] then return {now, 0} end
redis.call('HSET', KEYS[1], 'version', ARGV[2], 'record', ARGV[3])
redis.call('PERSIST', KEYS[1])
return {now, 1}`;

/**
 * Keeps records in Redis or Valkey (6.2 and newer): single, Sentinel or Cluster, given as a node-redis 4 to 6, ioredis 5 to 6 or iovalkey client.
 * One key for each client of the service, one script for each operation, no expiry. Replication is asynchronous, so core keeps half of the limit back.
 * Both methods reject when the server does not answer, is loading, read-only, out of memory or a cluster without that slot.
 * @throws TypeError for what is no client
 */
export function redisStore(client: RedisClient, { prefix = 'service-auth:' }: RedisStoreOptions = {}): Store {
  checkClient(client);
  const runLoad = defineScript(client, loadScript);
  const runSwap = defineScript(client, swapScript);
  let warnings: string[] | undefined;
  return {
    durability: 'replicated',
    async load(key, { signal } = {}) {
      const inspect = warnings ? '0' : '1';
      const [now, version, record, policy, aof] = await runLoad(prefix + key, [inspect], signal);
      warnings ??= warningsOf(String(policy), String(aof));
      // Clients can be set to return buffers.
      const found = version === null ? {} : { version: String(version), record: String(record) };
      return { ...found, now: Number(now), warnings };
    },
    async swap(key, { expected = '', version, record }, { signal } = {}) {
      const [now, swapped] = await runSwap(prefix + key, [expected, version, record], signal);
      return { swapped: Number(swapped) === 1, now: Number(now) };
    },
  };
}

function warningsOf(policy: string, aof: string): string[] {
  const evicts = `maxmemory-policy is ${policy}: Redis may evict the record. Set it to noeviction or volatile-lru.`;
  const forgets = 'appendonly is off: a restart of Redis may forget the newest tokens. Turn it on.';
  return [policy.startsWith('allkeys') ? evicts : '', aof === '0' ? forgets : ''].filter((warning) => warning !== '');
}
