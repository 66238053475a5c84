import { createUsageReader, type Store, type UsageReader } from '@service-auth/core';
import { aside } from './globals.ts';
import type { Run } from './parts.ts';
import { credentials } from './service.ts';
import { type Agreement, limitOf } from './settings.ts';
import { copiesOf, tryTwoDeaths, tryWhatIsSaid } from './trial.ts';

/** One of so many answers is tried, and one of so many tokens. In a long run ever fewer are. */
const triedAnswers = 6;
const triedTokens = 2;

/**
 * Creates what asks `getUsage()` about the record as it is now, as a provider does, in a turn of its own, for the judge. It changes nothing: what
 * it does is drawn from a randomness of its own.
 */
export function createWitness({ world, settings, store, judge, createServiceAuth, ...run }: Run): () => void {
  const { durability, phases, maxRecordBytes } = settings;
  const random = run.random.fork('trials');
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

  return () => {
    if (isAsking || store.kept('left') === undefined) return;
    isAsking = true;
    world.at(world.now, () => {
      isAsking = false;
      void aside(question).catch(judge.unreadable);
    });
  };
}
