import {
  createUsageReader,
  type ServiceAuth,
  type ServiceAuthOptions,
  type Store,
  type UsageReader,
} from '@service-auth/core';
import { aside } from './globals.ts';
import type { Judge } from './judge/judge.ts';
import type { Random } from './random.ts';
import { credentials } from './service.ts';
import { type Agreement, limitOf, type Settings } from './settings.ts';
import type { SimulatedStore } from './simulated-store.ts';
import { copiesOf, tryTwoDeaths, tryWhatIsSaid } from './trial.ts';
import type { World } from './world.ts';

/** Reads the record as a provider does, for the judge. */
export interface Witness {
  /** Asks what `getUsage()` says about the record as it is now, in a turn of its own. */
  ask(): void;
}

/** One of so many answers is tried, and one of so many tokens. In a long run ever fewer are. */
const triedAnswers = 6;
const triedTokens = 2;

/** Creates the witness of a run. It changes nothing: what it does is drawn from a randomness of its own. */
export function createWitness(
  world: World,
  settings: Settings,
  store: SimulatedStore,
  judge: Judge,
  createServiceAuth: (options: ServiceAuthOptions) => ServiceAuth,
  random: Random,
): Witness {
  const { durability, phases, maxRecordBytes } = settings;
  const agreements = phases.flatMap((phase) => phase.agreements);
  const isUniform = agreements.length === 1 && !phases.some(({ inheriting }) => inheriting);
  const reading: Store = {
    durability,
    maxRecordBytes,
    load: async () => ({ ...store.kept('left'), now: store.now() }),
    swap: async () => ({ swapped: false, now: store.now() }),
  };
  const reader: UsageReader = createUsageReader({
    store: reading,
    authUrl: credentials.authUrl,
    clientId: credentials.clientId,
    // Where agreements differ, the record says which are kept.
    ...(isUniform && { issuanceLimit: limitOf(agreements[0] as Agreement) }),
    clock: { now: store.now, monotonic: () => world.now, setTimer: () => () => {} },
  });
  let isAsking = false;
  let [answers, tokens] = [0, 0];
  let newest: string | undefined;

  const isTried = (oneOf: number, soFar: number) => random.chance(1 / Math.max(oneOf, soFar / 5));

  async function question(): Promise<void> {
    const usage = await reader.getUsage();
    judge.counted(usage);
    answers += 1;
    const kept = store.kept('left');
    if (!isUniform || maxRecordBytes !== undefined || !kept) return;
    const copies = copiesOf(settings, kept, createServiceAuth);
    if (isTried(triedAnswers, answers)) {
      const audience = random.pick([undefined, ...settings.audiences]);
      const trial = await tryWhatIsSaid(copies, store.now(), audience, settings);
      if (trial) judge.tried(trial);
    }
    const [token] = usage.issuances;
    if (settings.audiences.length > 1 || token?.pending !== false || token.id === newest) return;
    newest = token.id;
    tokens += 1;
    if (!isTried(triedTokens, tokens)) return;
    const isServed = await tryTwoDeaths(copies, store.now(), usage, settings);
    if (isServed !== undefined) judge.triedDeaths(isServed);
  }

  return {
    ask() {
      if (isAsking || store.kept('left') === undefined) return;
      isAsking = true;
      world.at(world.now, () => {
        isAsking = false;
        void aside(question).catch(judge.unreadable);
      });
    },
  };
}
