import { movedByDate } from '@service-auth/test-support/store-time';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { startRedis } from '@service-auth/test-tools/servers/redis';
import { storeContract } from '@service-auth/testing';
import { afterAll, describe, expect, test } from 'vitest';
import { redisStore } from '../src/index.ts';
import { type Connection, clients } from './clients.ts';

const given = process.env['REDIS_URL'];
const server = given ? undefined : await orSkip(() => startRedis());
const url = given ?? server?.url ?? '';
afterAll(() => server?.stop());

for (const [name, connect] of Object.entries(clients)) {
  describe.runIf(url)(`the contract of stores, with ${name}`, () => {
    const cases = storeContract(async () => {
      const connections: Connection[] = [];
      async function another() {
        const connection = await connect(url);
        connections.push(connection);
        return redisStore(connection.client, { prefix: 'test:' });
      }
      return {
        store: await another(),
        another,
        close: () => Promise.all(connections.map((connection) => connection.close())),
      };
    });
    for (const { name, run } of cases) test(name, run);

    test('the clock of the store does not follow the Date of this process', async () => {
      const { client, close } = await connect(url);
      expect(await movedByDate(redisStore(client, { prefix: 'test:' }))).toBeLessThan(60_000);
      await close();
    });
  });
}
