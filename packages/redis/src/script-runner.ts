/** What is needed of a node-redis client, a node-redis cluster or a pool: both methods are there in versions 4 to 6. */
export interface NodeRedisClient {
  evalSha(sha1: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/** What is needed of an ioredis or iovalkey client or cluster. */
export interface IoRedisClient {
  evalsha(sha1: string, keys: number, ...parts: string[]): Promise<unknown>;
  eval(script: string, keys: number, ...parts: string[]): Promise<unknown>;
}

/** Any supported client, told apart by shape. */
export type RedisClient = NodeRedisClient | IoRedisClient;

/** Runs a script with one key by its hash, and sends it whole where the server does not know it. */
export type ScriptRunner = (
  script: string,
  key: string,
  parts: string[],
  signal: AbortSignal | undefined,
) => Promise<unknown[]>;

export function scriptRunner(client: RedisClient): ScriptRunner {
  const hashes = new Map<string, string>();

  function send(text: string, isHash: boolean, key: string, parts: string[]): Promise<unknown> {
    if ('evalSha' in client) return client[isHash ? 'evalSha' : 'eval'](text, { keys: [key], arguments: parts });
    return client[isHash ? 'evalsha' : 'eval'](text, 1, key, ...parts);
  }

  async function runScript(script: string, key: string, parts: string[]): Promise<unknown[]> {
    const hash = hashes.get(script) ?? (await sha1(script));
    hashes.set(script, hash);
    try {
      return (await send(hash, true, key, parts)) as unknown[];
    } catch (error) {
      const code = errorCode(error);
      if (code === 'NOSCRIPT') return (await send(script, false, key, parts)) as unknown[];
      // Replies such as READONLY, LOADING or OOM say what is wrong in their first word only.
      throw code === undefined ? error : Object.assign(new Error(`Redis answered ${code}`), { code });
    }
  }

  return (script, key, parts, signal) => unlessAborted(() => runScript(script, key, parts), signal);
}

function errorCode(error: unknown): string | undefined {
  return error instanceof Error ? /^[A-Z]{2,}(?= )/.exec(error.message)?.[0] : undefined;
}

/** Clients wait for a silent server for ever, or as long as they try to reconnect. */
async function unlessAborted<Result>(start: () => Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  signal?.throwIfAborted();
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal?.reason);
  });
  signal?.addEventListener('abort', abort);
  try {
    return await Promise.race([start(), aborted]);
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

async function sha1(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-1', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
