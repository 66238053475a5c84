import type { Store } from '@service-auth/core';
import { onePerConnection } from '@service-auth/core/store';
import { watchConnection } from './connection-failure.ts';
import { checkClient, defineScript, type RedisClient } from './script-runner.ts';

/** Options of {@link redisStore}. */
export interface RedisStoreOptions {
  /** The prefix of every key. Default `service-auth:`. */
  prefix?: string | undefined;
}

// TIME advances within a script. A script may read it before a write, because Redis replicates
// effects since version 5.
const clock = `local t = redis.call('TIME'); local now = t[1] * 1000 + math.floor(t[2] / 1000)`;

// Some users may not call INFO, and managed Redis answers less. There is no warning about settings
// that cannot be read. The client of Upstash parses every reply as JSON, if it can. No text that
// begins with this marker is JSON.
const mark = '=';
const loadScript = `${clock}
local row = redis.call('HMGET', KEYS[1], 'version', 'record')
local version, record = row[1] and '${mark}' .. row[1], row[2] and '${mark}' .. row[2]
if ARGV[1] == '0' then return {now, version, record} end
local function info(section, pattern)
  local text = redis.pcall('INFO', section)
  return type(text) == 'string' and text:match(pattern) or ''
end
return {now, version, record, info('memory', 'maxmemory_policy:([%w-]+)'), info('persistence', 'aof_enabled:(%d)')}`;

// A Redis client may send a script again if its reply was lost. If the stored version is the new
// one, this same call has written it.
const swapScript = `${clock}
local present = redis.call('HGET', KEYS[1], 'version') or ''
if present == ARGV[2] then return {now, 1} end
if present ~= ARGV[1] then return {now, 0} end
redis.call('HSET', KEYS[1], 'version', ARGV[2], 'record', ARGV[3])
redis.call('PERSIST', KEYS[1])
return {now, 1}`;

// Some platforms refuse SHA-1, so the hashes are not computed here. A test compares them with the
// scripts.
const loadHash = '408fb628479e9b7a6d249380ea876f317124e715';
const swapHash = '5be2f636fc1dda58a1cc7caa22491b85c1f857a7';

const storeOf = onePerConnection(createStore);

/**
 * Keeps records in Redis or Valkey (6.2 and newer): single server, Sentinel, Cluster or Upstash.
 * `client` is a client of node-redis 4 to 6, ioredis 5 to 6, iovalkey or @upstash/redis. Each
 * client of the service has one key without expiry, and each operation is one script. Replication
 * is asynchronous, so core keeps back half of the limit by default. Both methods reject if the
 * server does not answer, is loading, read-only or out of memory, or if the cluster has no node for
 * the key. The same `client` and `prefix` give the same store.
 * @throws TypeError if `client` is no Redis client, or if `prefix` is no string
 */
export function redisStore(client: RedisClient, { prefix = 'service-auth:' }: RedisStoreOptions = {}): Store {
  checkClient(client);
  if (typeof prefix !== 'string') throw new TypeError('[service-auth/redis] The option `prefix` must be a string.');
  return storeOf(client, prefix);
}

function createStore(client: RedisClient, prefix: string): Store {
  const failure = watchConnection(client);
  const runLoad = defineScript(client, loadScript, loadHash, failure);
  const runSwap = defineScript(client, swapScript, swapHash, failure);
  let warnings: string[] | undefined;
  return {
    durability: 'replicated',
    name: `Redis (prefix ${prefix})`,
    get adviceIfSilent() {
      const { code } = Object(failure.error) as { readonly code?: unknown };
      return typeof code === 'string' && /^E[A-Z_]+$/.test(code)
        ? `the client has no connection (${code}). Check its host, its port and the network.`
        : undefined;
    },
    async load(key, { signal } = {}) {
      const inspect = warnings ? '0' : '1';
      const [now, version, record, policy, aof] = await runLoad(prefix + key, [inspect], signal);
      warnings ??= warningsOf(String(policy), String(aof));
      // A client may be configured to return buffers.
      const found = version === null ? {} : { version: unmarked(version), record: unmarked(record) };
      return { ...found, now: Number(now), warnings };
    },
    async swap(key, { expected = '', version, record }, { signal } = {}) {
      const [now, swapped] = await runSwap(prefix + key, [expected, version, record], signal);
      return { swapped: Number(swapped) === 1, now: Number(now) };
    },
  };
}

function unmarked(text: unknown): string {
  return String(text).slice(mark.length);
}

function warningsOf(policy: string, aof: string): string[] {
  const evicts = `maxmemory-policy is ${policy}: Redis may evict the record. Set it to noeviction or volatile-lru.`;
  const forgets = 'appendonly is off: a restart of Redis may forget the newest tokens. Turn it on.';
  return [policy.startsWith('allkeys') ? evicts : '', aof === '0' ? forgets : ''].filter((warning) => warning !== '');
}
