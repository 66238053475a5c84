import { redisStore } from '@service-auth/redis';
import { type OpenedStore, parameterOf } from './address.ts';
import { connectingStore } from './connecting.ts';
import { parseRedisAddress } from './redis-address.ts';
import { connectRedis } from './redis-connection.ts';
import { examineReplicas, prefixesOf } from './redis-diagnosis.ts';

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
