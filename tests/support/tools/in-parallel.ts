import { availableParallelism } from 'node:os';

/** Uses the items in turn, as many at a time as there are processors. Rejects when all are done and one has failed. */
export async function inParallel<Item>(items: readonly Item[], use: (item: Item) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const takeTurns = async () => {
    for (const item of waiting) await use(item);
  };
  const turns = await Promise.allSettled(Array.from({ length: availableParallelism() }, takeTurns));
  for (const turn of turns) if (turn.status === 'rejected') throw turn.reason;
}
