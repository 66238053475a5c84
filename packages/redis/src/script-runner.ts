import { abortable, explain, type Reason } from '@service-auth/core/store';
import type { ConnectionFailure } from './connection-failure.ts';

/**
 * The methods that this package needs of a node-redis client, Sentinel or pool. Versions 4 to 6
 * have both.
 */
interface NodeRedisClient {
  evalSha(sha1: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/** The method that this package needs of a node-redis cluster. Only a cluster has it. */
interface NodeRedisCluster {
  readonly masters: readonly unknown[];
  sendCommand(firstKey: string, isReadonly: boolean, command: string[]): Promise<unknown>;
}

/**
 * The methods that this package needs of an ioredis or iovalkey client or cluster. Only these have
 * `defineCommand`.
 */
interface IoRedisClient {
  readonly defineCommand: unknown;
  evalsha(sha1: string, keys: number, ...parts: string[]): Promise<unknown>;
  eval(script: string, keys: number, ...parts: string[]): Promise<unknown>;
}

/**
 * The methods that this package needs of a client of @upstash/redis, which sends commands by HTTP.
 * Besides node-redis, only this has `scriptLoad`.
 *
 * @experimental It has run with a server that answers like Upstash, and not yet with Upstash.
 */
interface UpstashRedisClient {
  readonly scriptLoad: unknown;
  evalsha(sha1: string, keys: string[], parts: string[]): Promise<unknown>;
  eval(script: string, keys: string[], parts: string[]): Promise<unknown>;
}

/** Any supported client. Its methods show which one it is. */
export type RedisClient = NodeRedisClient | NodeRedisCluster | IoRedisClient | UpstashRedisClient;

/** A script with one key. */
export type Script = (key: string, parts: string[], signal: AbortSignal | undefined) => Promise<unknown[]>;

/**
 * @throws TypeError if `client` is no Redis client, or if it does not answer each command by a
 * promise of its own
 */
export function checkClient(client: object | undefined): void {
  const { masters, evalSha, evalsha, defineCommand, scriptLoad, exec, pipeline, multi, on, options } = Object(client);
  if (!(masters || evalSha || (evalsha && (defineCommand || scriptLoad)))) {
    throw new TypeError(
      '[service-auth/redis] redisStore(client) takes a client of redis 4 to 6, ioredis 5 or 6, iovalkey or @upstash/redis, not its URL and not a promise.',
    );
  }
  // Pipelines and transactions have exec(). The clients of ioredis have it, too, and besides it
  // pipeline().
  const collects = exec && !pipeline;
  const hasCallbacks = evalSha && ((multi && !on) || options?.legacyMode);
  if (!collects && !hasCallbacks) return;
  throw new TypeError(
    '[service-auth/redis] redisStore(client) takes the client itself, not a transaction, pipeline or legacy() of it, and no client with legacyMode.',
  );
}

const commands = ['evalsha', 'eval', 'hget', 'hset', 'hmget', 'persist', 'time'];

/**
 * The errors of Redis alone, by the first word of an error reply, or by messages of its clients.
 */
const reasons: readonly Reason[] = [
  ['FullMemory', 'Redis has no memory left for writes. Raise maxmemory, or remove keys.', 'OOM', /DB capacity quota/],
  [
    'SpentQuota',
    'the plan of Upstash allows no more commands. Raise it, or send fewer.',
    '',
    /max (daily )?requests? limit/,
  ],
  ['FailedSnapshot', 'Redis takes no writes because it cannot save to its disk. See its log.', 'MISCONF'],
  ['MissingReplicas', 'Redis takes no writes without the replicas that min-replicas-to-write asks for.', 'NOREPLICAS'],
  ['BusyServer', 'a script or function of another program keeps Redis busy: SCRIPT KILL ends it.', 'BUSY'],
  ['ReplicaWithoutPrimary', 'this replica has lost its primary server; connect to the primary server.', 'MASTERDOWN'],
  ['IncompleteCluster', 'the cluster has no node for the key. See CLUSTER INFO.', 'CLUSTERDOWN TRYAGAIN'],
  [
    'WrongNode',
    'this server is a node of a cluster: pass a client for clusters, such as createCluster().',
    'MOVED ASK',
  ],
  [
    'WrongClient',
    'the client serves subscriptions or MONITOR: pass another one, such as its duplicate().',
    '',
    /^Connection in subscriber mode|^Connection is in monitoring mode|only \(P\|S\)SUBSCRIBE/,
  ],
];

/** The message has the user, the key and the command. Only a command of ours is shown. */
function missingRights(message: unknown): Reason {
  const refused = commands.find((name) => String(message).includes(` to run the '${name}' command`));
  const rights = `the user needs ${commands.map((name) => `+${name}`).join(' ')}, and every key of the prefix`;
  const advice = refused ? `the user may not run ${refused}; ${rights}.` : `${rights}.`;
  return ['MissingRights', advice, 'NOPERM', /^ERR The user executing the script can't run|ACL failure in script/];
}

/**
 * Runs a script by its hash, the SHA-1 of the text in hexadecimal. Sends the whole script if the
 * server does not know the hash.
 */
export function defineScript(client: RedisClient, text: string, hash: string, failure: ConnectionFailure): Script {
  async function send(whole: boolean, key: string, parts: string[]): Promise<unknown[]> {
    const script = whole ? text : hash;
    try {
      let reply: Promise<unknown>;
      // The cluster's own evalSha() of version 4 ignores the key and asks any node.
      if ('masters' in client)
        reply = client.sendCommand(key, false, [whole ? 'EVAL' : 'EVALSHA', script, '1', key, ...parts]);
      else if ('evalSha' in client)
        reply = client[whole ? 'eval' : 'evalSha'](script, { keys: [key], arguments: parts });
      else if ('scriptLoad' in client) reply = client[whole ? 'eval' : 'evalsha'](script, [key], parts);
      else reply = client[whole ? 'eval' : 'evalsha'](script, 1, key, ...parts);
      const answer = await reply;
      // Within a transaction that the application began on this connection, the reply is the word
      // QUEUED.
      if (!Array.isArray(answer)) throw Object.assign(new Error('no array'), { code: 'QUEUED' });
      // Clusters and pools of node-redis do not say that they are ready again.
      failure.error = undefined;
      return answer;
    } catch (error) {
      const { message, name } = Object(error) as { readonly message?: unknown; readonly name?: unknown };
      // The first word of an error reply, such as READONLY, LOADING or OOM, is its code. The client
      // of Upstash puts its own words before it.
      const code = /^(?:Command failed: )?([A-Z]{2,}) /.exec(String(message))?.[1];
      if (code === 'NOSCRIPT') return send(true, key, parts);
      const table = [missingRights(message), ...reasons];
      // Commands that waited for a connection in vain end with an error that does not say why there
      // is none: with no text in node-redis 6.
      const isUnconnected = message === '' || name === 'MaxRetriesPerRequestError';
      const cause = isUnconnected ? (failure.error ?? error) : error;
      if (code === undefined || code === 'ERR') explain(cause, undefined, table);
      explain(Object.assign(new Error(`Redis answered ${code}`), { code }), undefined, table);
    }
  }

  return async (key, parts, signal) => {
    signal?.throwIfAborted();
    // The clients themselves wait for a silent server without limit, or as long as they try to
    // reconnect.
    return abortable(send(false, key, parts), signal);
  };
}
