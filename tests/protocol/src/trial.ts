import type { ServiceAuth, ServiceAuthOptions, Store, Transport } from '@service-auth/core';
import type { Trial } from './judge/sights.ts';
import { type Agreement, limitOf, type Settings } from './settings.ts';

/** More callers would show nothing else. */
const mostCallers = 6;
const ticks = 500;

/**
 * Asks `getUsage()` of a client in a copy of the record, and then sends callers there: each of a process and an audience of its own, or one for an audience of the run.
 * Nothing of the run changes. Undefined: the audience has a token, or a request is under way.
 */
export async function tryWhatIsSaid(
  { phases, durability }: Settings,
  kept: { readonly record: string; readonly version: string },
  now: number,
  createServiceAuth: (options: ServiceAuthOptions) => ServiceAuth,
  audience: string | undefined,
): Promise<Trial | undefined> {
  const agreement = phases[0]?.agreements[0] as Agreement;

  /** A copy of the record, with time standing still at this instant. */
  function copyAt(at: number) {
    let copy = kept;
    let requests = 0;
    const transport: Transport = async ({ body }) => {
      if (!body.includes('client_secret')) return { status: 400, headers: {}, body: '' };
      requests += 1;
      return new Promise(() => {});
    };
    const create = (name: string): ServiceAuth => {
      const store: Store = {
        durability,
        load: async () => ({ ...copy, now: at }),
        async swap(_key, { expected, version, record }) {
          const swapped = copy.version === expected;
          if (swapped) copy = { record, version };
          return { swapped, now: at };
        },
      };
      return createServiceAuth({
        audience: name,
        authUrl: 'https://auth.example.com',
        clientId: 'client',
        clientSecret: 'CANARY-secret-1',
        issuanceLimit: limitOf(agreement),
        instance: name,
        clock: { now: () => at, monotonic: () => at, setTimer: () => () => {} },
        store,
        transport,
      });
    };
    /** Sends callers there, one after the other. Returns how many requests were sent for them: nobody answers these. */
    const send = async (callers: number): Promise<number> => {
      for (let caller = 0; caller < callers; caller++) {
        create(audience ?? `visitor ${caller}`).getToken().catch(() => {});
        for (let tick = 0; tick < ticks; tick++) await undefined;
      }
      return requests;
    };
    return { create, send };
  }

  const usage = await copyAt(now).create(audience ?? 'visitor').getUsage();
  const { availableNow: said, refusedUntil, refusedBecause = '' } = usage;
  if (audience !== undefined && (usage.underWay > 0 || usage.tokens.some((token) => token.audience === audience)))
    return undefined;
  const asked = audience === undefined ? Math.min(said + 1, mostCallers) : 1;
  const refused = refusedUntil !== undefined && {
    because: refusedBecause,
    forMs: refusedUntil - now,
    before: (await copyAt(refusedUntil - 1).send(1)) > 0,
    then: (await copyAt(refusedUntil).send(1)) > 0,
  };
  return { said, asked, served: await copyAt(now).send(asked), refused: refused || undefined };
}
