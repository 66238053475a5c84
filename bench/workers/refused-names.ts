import { createServiceAuth, type Store } from '@service-auth/core';
import { createTestClock } from '@service-auth/testing';

export interface RefusedNamesInput {
  /** The token endpoint refuses so many audiences of one client, one after the other. */
  readonly names: number;
}

export interface RefusedNamesOutput {
  /** The processor time of this thread. */
  readonly seconds: number;
  readonly recordBytes: number;
}

/** Requests tokens that the endpoint refuses, in virtual time. Each of them is tried until its caller gives up. */
export default async function refusedNames({ names }: RefusedNamesInput): Promise<RefusedNamesOutput> {
  const clock = createTestClock();
  const now = () => Math.floor(clock.world.now());
  let kept: { record: string; version: string } | undefined;
  const store: Store = {
    durability: 'durable',
    load: async () => ({ ...kept, now: now() }),
    async swap(_key, { expected, version, record }) {
      const swapped = kept?.version === expected;
      if (swapped) kept = { record, version };
      return { swapped, now: now() };
    },
  };
  let isRefusing = false;
  const transport = async () => {
    const headers = { 'content-type': 'application/json' };
    return isRefusing
      ? { status: 403, headers, body: '{"error":"access_denied"}' }
      : { status: 200, headers, body: '{"access_token":"token","token_type":"Bearer","expires_in":86400}' };
  };
  const ask = async (audience: string) => {
    const options = { authUrl: 'https://auth.example.com', clientId: 'client', clientSecret: 'secret' };
    const auth = createServiceAuth({ ...options, audience, store, transport, clock });
    let isDone = false;
    const ended = auth
      .getToken()
      .catch(() => {})
      .finally(() => {
        isDone = true;
      });
    for (let step = 0; !isDone && step < 72_000; step += 1) await clock.advance(50);
    await ended;
  };
  const before = process.cpuUsage();
  await ask('served');
  isRefusing = true;
  for (let name = 0; name < names; name += 1) await ask(`refused ${name}`);
  const { user, system } = process.cpuUsage(before);
  return { seconds: (user + system) / 1e6, recordBytes: kept?.record.length ?? 0 };
}
