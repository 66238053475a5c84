import { join } from 'node:path';
import { loadPeerModule } from '../contenders/peers.ts';
import type { Client } from '../harness/client.ts';
import type { Places } from '../harness/places.ts';
import { type Spent, spentOn } from '../harness/spent.ts';

export interface FleetInput {
  readonly name: string;
  readonly client: Client;
  readonly places: Places;
}

/** First what to load, then, when all processes of the fleet have, to go. */
export type FleetOrder = FleetInput | 'go';

type GetToken = () => Promise<unknown>;

export const noSharing = 'no sharing';

/** Ways to a token, and by hand the same over the same store: what the time is compared with. */
export const pairs = {
  file: { ours: '@service-auth/file', byHand: 'handwritten lock, file' },
  redis: { ours: '@service-auth/redis (ioredis)', byHand: 'handwritten lock, Redis (ioredis)' },
  postgres: { ours: '@service-auth/postgres (pg)', byHand: 'handwritten lock, PostgreSQL (pg)' },
};
const redlock = '@scienta/axios-oauth2 (ioredis, redlock)';

const contenders: Readonly<Record<string, (input: FleetInput) => Promise<GetToken>>> = {
  async [noSharing]({ client }) {
    const { requestToken } = await byHand();
    return () => requestToken(client);
  },
  async [pairs.file.byHand]({ client, places }) {
    const { getTokenByFile, requestToken } = await byHand();
    return () => getTokenByFile(join(places.directory, client.clientId), () => requestToken(client));
  },
  async [pairs.file.ours]({ client, places }) {
    const [{ createOurs }, { fileStore }] = await Promise.all([ours(), import('@service-auth/file')]);
    return () => createOurs(client, { store: fileStore(join(places.directory, 'store')) }).getToken();
  },
  async [pairs.redis.byHand]({ client, places }) {
    const [{ getTokenByRedis, requestToken }, { Redis }] = await Promise.all([byHand(), import('ioredis')]);
    return () => getTokenByRedis(new Redis(places.redis ?? ''), client.clientId, () => requestToken(client));
  },
  async [pairs.redis.ours]({ client, places }) {
    const [{ createOurs }, { redisStore }] = await Promise.all([ours(), import('@service-auth/redis')]);
    const { Redis } = await import('ioredis');
    return () => createOurs(client, { store: redisStore(new Redis(places.redis ?? '')) }).getToken();
  },
  async [redlock]({ client, places }) {
    type Redlock = { getTokenByRedlock(redis: unknown, client: Client): Promise<string> };
    const [{ getTokenByRedlock }, { Redis }] = await Promise.all([
      loadPeerModule<Redlock>('redlock'),
      import('ioredis'),
    ]);
    return () => getTokenByRedlock(new Redis(places.redis ?? ''), client);
  },
  async [pairs.postgres.byHand]({ client, places }) {
    const [{ getTokenByPostgres, requestToken }, pool] = await Promise.all([byHand(), poolFor(places)]);
    return () => getTokenByPostgres(pool(), client.clientId, () => requestToken(client));
  },
  async [pairs.postgres.ours]({ client, places }) {
    const [{ createOurs }, { postgresStore }] = await Promise.all([ours(), import('@service-auth/postgres')]);
    const pool = await poolFor(places);
    return () => createOurs(client, { store: postgresStore(pool()) }).getToken();
  },
};

/** The contenders that the available stores and the installed libraries allow. */
export function contendersIn({ redis, postgres }: Places, withPeers: boolean): string[] {
  return Object.keys(contenders).filter(
    (name) =>
      (redis || !/redis/i.test(name)) && (postgres || !/postgres/i.test(name)) && (withPeers || name !== redlock),
  );
}

let getToken: GetToken | undefined;

/** The time of one process of a fleet until its first token, including the connection. */
export default async function fleet(order: FleetOrder): Promise<Spent | undefined> {
  if (order === 'go') return spentOn(async () => await getToken?.());
  getToken = await contenders[order.name]?.(order);
  return undefined;
}

async function byHand() {
  return { ...(await import('../contenders/shared-tokens.ts')), ...(await import('../contenders/request-token.ts')) };
}

async function ours() {
  return await import('../contenders/ours.ts');
}

async function poolFor({ postgres }: Places) {
  const { default: pg } = await import('pg');
  return () => new pg.Pool({ connectionString: postgres });
}
