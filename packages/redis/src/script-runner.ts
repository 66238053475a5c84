import { raced } from '@service-auth/core/store';

/** The methods that this package needs of a node-redis client, Sentinel or pool. Versions 4 to 6 have both. */
export interface NodeRedisClient {
  evalSha(sha1: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/** The method that this package needs of a node-redis cluster. Only a cluster has it. */
export interface NodeRedisCluster {
  readonly masters: readonly unknown[];
  sendCommand(firstKey: string, isReadonly: boolean, command: string[]): Promise<unknown>;
}

/** The methods that this package needs of an ioredis or iovalkey client or cluster. Only these have `defineCommand`. */
export interface IoRedisClient {
  readonly defineCommand: unknown;
  evalsha(sha1: string, keys: number, ...parts: string[]): Promise<unknown>;
  eval(script: string, keys: number, ...parts: string[]): Promise<unknown>;
}

/** The methods that this package needs of a client of @upstash/redis, which sends commands by HTTP. Besides node-redis, only this has `scriptLoad`. */
export interface UpstashRedisClient {
  readonly scriptLoad: unknown;
  evalsha(sha1: string, keys: string[], parts: string[]): Promise<unknown>;
  eval(script: string, keys: string[], parts: string[]): Promise<unknown>;
}

/** Any supported client. Its methods show which one it is. */
export type RedisClient = NodeRedisClient | NodeRedisCluster | IoRedisClient | UpstashRedisClient;

/** A script with one key. */
export type Script = (key: string, parts: string[], signal: AbortSignal | undefined) => Promise<unknown[]>;

/** @throws TypeError if `client` is no Redis client */
export function checkClient(client: object | undefined): void {
  const { masters, evalSha, evalsha, defineCommand, scriptLoad } = Object(client);
  if (masters || evalSha || (evalsha && (defineCommand || scriptLoad))) return;
  throw new TypeError(
    '[service-auth/redis] redisStore(client) takes a client of redis 4 to 6, ioredis 5 or 6, iovalkey or @upstash/redis, not its URL and not a promise.',
  );
}

/** Runs a script by its hash, the SHA-1 of the text in hexadecimal. Sends the whole script if the server does not know the hash. */
export function defineScript(client: RedisClient, text: string, hash: string): Script {
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
      return (await reply) as unknown[];
    } catch (error) {
      // The first word of an error reply, such as READONLY, LOADING or OOM, is its code. The client of Upstash puts its own words before it.
      const code = error instanceof Error ? /^(?:Command failed: )?([A-Z]{2,}) /.exec(error.message)?.[1] : undefined;
      if (code === 'NOSCRIPT') return send(true, key, parts);
      // node-redis does not connect by itself.
      if ('isOpen' in client && !client.isOpen)
        throw Object.assign(new Error('Closed'), { advice: 'the client is closed; await client.connect() first.' });
      throw code === undefined ? error : Object.assign(new Error(`Redis answered ${code}`), { code });
    }
  }

  return async (key, parts, signal) => {
    signal?.throwIfAborted();
    // The clients themselves wait for a silent server without limit, or as long as they try to reconnect.
    return raced(send(false, key, parts), signal);
  };
}
