import { once } from 'node:events';
import { connect } from 'node:net';
import { startRedis } from './redis.ts';
import { freePort, type TestServer, until } from './server.ts';

/** The slots of every cluster. */
export const clusterSlots = 16_384;

/** The first slot of a node, by its index. Its last one is before the first slot of the next node. */
export function firstSlot(index: number, size: number): number {
  return Math.ceil((index * clusterSlots) / size);
}

/** Starts a Redis Cluster of primary servers that share the slots evenly. */
export async function startRedisCluster(size = 3): Promise<TestServer[]> {
  const servers: TestServer[] = [];
  for (let index = 0; index < size; index += 1) {
    const bus = await freePort();
    const settings = { 'cluster-enabled': 'yes', 'cluster-port': `${bus}`, 'cluster-announce-ip': '127.0.0.1' };
    const server = await startRedis(settings);
    servers.push(server);
    await command(server, `CLUSTER ADDSLOTSRANGE ${firstSlot(index, size)} ${firstSlot(index + 1, size) - 1}`);
    if (servers[0]) await command(servers[0], `CLUSTER MEET 127.0.0.1 ${server.port} ${bus}`);
  }
  const serves = new RegExp(`cluster_state:ok[\\s\\S]*cluster_slots_ok:${clusterSlots}[\\s\\S]*cluster_size:${size}`);
  for (const server of servers) {
    await until('every node serves all slots', async () => serves.test(await command(server, 'CLUSTER INFO')));
  }
  return servers;
}

/** Sends a command as people type it, and returns the answer as it is on the wire. */
async function command({ port }: TestServer, line: string): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  try {
    socket.write(`${line}\r\n`);
    const [answer] = await once(socket, 'data');
    if (String(answer).startsWith('-')) throw new Error(`${line}: ${answer}`);
    return String(answer);
  } finally {
    socket.destroy();
  }
}
