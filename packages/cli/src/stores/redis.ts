import { redisStore } from '@service-auth/redis';
import { counted } from '../report/text.ts';
import { type OpenedStore, parameterOf } from './address.ts';
import { connectingStore } from './connecting.ts';
import { type Diagnosis, ok, takesNoWrites } from './diagnosis.ts';
import { parseRedisAddress } from './redis-address.ts';
import { connectRedis, type Node } from './redis-connection.ts';

/** Opens a store in Redis. `parseRedisAddress` has the form of the address. */
export function openRedisStore(text: string): OpenedStore {
  const address = parseRedisAddress(text);
  const place = address.prefix ?? 'service-auth:';
  const { store, connection } = connectingStore({ durability: 'replicated' }, (ending) =>
    connectRedis(address, ending),
  );
  return {
    store,
    label: address.label,
    trial: (key) => ({ store, remove: async () => (await connection()).client.del(place + key) }),
    examine: async () => [await examineReplicas(await (await connection()).nodes())],
    async others(key) {
      const { nodes, client } = await connection();
      const { prefixes, searched } = await prefixesOf(await nodes(), key);
      const found = prefixes
        .filter((prefix) => prefix !== place)
        .map((prefix) => ({
          name: JSON.stringify(prefix),
          parameter: parameterOf('prefix', prefix),
          store: redisStore(client, { prefix }),
        }));
      return { kind: 'prefix', found, searched, addressOf: address.withParameter };
    },
  };
}

/** Says how many replicas there are. `nodes`: the primary servers. */
async function examineReplicas(nodes: readonly Node[]): Promise<Diagnosis> {
  let count = 0;
  for (const node of nodes) {
    const info = String(await node.sendCommand(['INFO', 'replication']));
    if (/role:slave/.test(info)) return takesNoWrites('this server is a replica, which takes no writes');
    count += Number(/connected_slaves:(\d+)/.exec(info)?.[1] ?? 0);
  }
  const subject = nodes.length === 1 ? 'it has' : `it is a cluster of ${nodes.length} primary servers with`;
  return ok(
    `${subject} ${counted(count, 'replica')}; a failover may lose the newest writes, so half of the limit is held in reserve where SERVICE_AUTH_RESERVE does not say otherwise`,
  );
}

const maxScans = 200;

/** Finds the prefixes that have this key, and whether all keys were looked at. */
async function prefixesOf(
  nodes: readonly Node[],
  key: string,
): Promise<{ readonly prefixes: readonly string[]; readonly searched: string | undefined }> {
  const found = new Set<string>();
  let isWhole = true;
  for (const node of nodes) {
    let cursor = '0';
    for (let scans = 0; scans < maxScans; scans += 1) {
      const scan = ['SCAN', cursor, 'MATCH', `*${key}`, 'COUNT', '1000'];
      const [next, names] = (await node.sendCommand(scan)) as [string, string[]];
      for (const name of names) found.add(String(name).slice(0, -key.length));
      cursor = String(next);
      if (cursor === '0') break;
    }
    isWhole &&= cursor === '0';
  }
  return { prefixes: [...found].sort(), searched: isWhole ? undefined : `the first ${maxScans * 1_000} keys` };
}
