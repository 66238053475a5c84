import { createClient, createCluster } from '@redis/client';
import type { Store } from '@service-auth/core';
import { redisStore } from '@service-auth/redis';
import { certificateAdvice } from '../line/certificates.ts';
import type { Connection } from './connecting.ts';
import { isItThere, wrongPassword } from './explaining.ts';
import type { Host, RedisAddress } from './redis-address.ts';
import { primaryOf } from './redis-sentinel.ts';

/** The methods of a client that are used besides scripts. */
export interface Node {
  sendCommand(command: string[]): Promise<unknown>;
}

export interface RedisConnection extends Connection {
  /** The server, or the primary servers of the cluster. */
  nodes(): Promise<readonly Node[]>;
  readonly client: Parameters<typeof redisStore>[0] & { del(key: string): Promise<unknown> };
}

/** Connects to the server, the cluster, or the primary server that Sentinels name. */
export async function connectRedis(address: RedisAddress, ending: AbortSignal): Promise<RedisConnection> {
  const { hosts, hostNames, sentinel } = address;
  try {
    if (sentinel !== undefined) return await connectServer(address, await primaryOf(address, sentinel), ending);
    if (hosts.length > 1) return await connectCluster(address, ending);
    return await connectMember(address, ending);
  } catch (error) {
    throw explained(error, hostNames);
  }
}

async function connectServer(address: RedisAddress, host: Host, ending: AbortSignal): Promise<RedisConnection> {
  const { credentials, database, prefix, socket } = address;
  const client = createClient({ ...credentials, database, socket: { ...socket, ...host } });
  // Each failure reaches the call that waits for it.
  client.on('error', () => {});
  ending.throwIfAborted();
  ending.addEventListener('abort', () => client.isOpen && client.destroy());
  await client.connect();
  return {
    store: redisStore(client, { prefix }),
    // A server that has become a replica does not take writes again soon. Its name may lead to
    // another one by now.
    isUsable: (error) => client.isReady && codeOf(error) !== 'READONLY',
    nodes: async () => [client],
    client,
  };
}

async function connectCluster(address: RedisAddress, ending: AbortSignal): Promise<RedisConnection> {
  const { credentials, hosts, prefix, socket } = address;
  const cluster = createCluster({
    rootNodes: hosts.map((host) => ({ socket: { ...socket, ...host } })),
    defaults: { ...credentials, socket },
    // The record is on one node; the others need not work.
    minimizeConnections: true,
  });
  cluster.on('error', () => {});
  ending.throwIfAborted();
  ending.addEventListener('abort', () => cluster.isOpen && cluster.destroy());
  await cluster.connect();
  return {
    store: redisStore(cluster, { prefix }),
    // The next connection asks which node has the record now.
    isUsable: () => false,
    nodes: () => Promise.all(cluster.masters.map((node) => cluster.nodeClient(node))),
    client: cluster,
  };
}

/** Connects to a server. If it names another node for the record, connects to its cluster. */
async function connectMember(address: RedisAddress, ending: AbortSignal): Promise<RedisConnection> {
  const [host = { host: '', port: 0 }] = address.hosts;
  let connection = await connectServer(address, host, ending);

  async function followed<Result>(call: (store: Store) => Promise<Result>): Promise<Result> {
    try {
      return await call(connection.store);
    } catch (error) {
      if (codeOf(error) !== 'MOVED' && codeOf(error) !== 'ASK') throw error;
      connection = await connectCluster(address, ending);
      return call(connection.store);
    }
  }

  return {
    store: {
      durability: connection.store.durability,
      load: (key, options) => followed((store) => store.load(key, options)),
      swap: (key, change, options) => followed((store) => store.swap(key, change, options)),
    },
    isUsable: (error) => connection.isUsable(error),
    nodes: () => connection.nodes(),
    get client() {
      return connection.client;
    },
  };
}

/** The first word of an error reply is its code. */
function codeOf(error: unknown): unknown {
  const { code, message } = Object(error) as { code?: unknown; message?: unknown };
  return code ?? /^[A-Z]{2,}(?= |$)/.exec(String(message))?.[0];
}

/** Core shows the name, the code and the advice of an error. */
function explained(error: unknown, hosts: string): Error {
  const code = codeOf(error);
  const { advice = adviceFor(code, String(Object(error).message), hosts) } = Object(error) as { advice?: string };
  return Object.assign(new Error('connection failed'), { name: 'RedisConnection', code, advice });
}

function adviceFor(code: unknown, message: string, hosts: string): string {
  const certificate = certificateAdvice(code, 'name it with ?ca=FILE');
  if (certificate !== undefined) return `${hosts}: ${certificate}`;
  if (/DB index|SELECT/.test(message)) return `${hosts} has no database of this number; a cluster has only 0.`;
  const isPassword = code === 'WRONGPASS' || code === 'NOAUTH' || code === 'ERR';
  return isPassword ? `${hosts} ${wrongPassword}` : isItThere(hosts);
}
