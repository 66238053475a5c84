import { memoryStore } from '@service-auth/core';
import { serve } from '../children.ts';
import { histories } from './histories.ts';
import { createPlace } from './place.ts';
import { loadReleases } from './releases.ts';

/** A history. `today`: the address of another build of today's core. */
export interface HistoryTask {
  readonly history: string;
  readonly today?: string;
}

/** Resolves with why a history is not as it must be; an empty text: it is. */
serve(async ({ history, today }: HistoryTask): Promise<string> => {
  let memory = memoryStore();
  const place = await createPlace({
    open: () => ({
      durability: 'durable',
      load: (...call) => memory.load(...call),
      swap: (...call) => memory.swap(...call),
    }),
    wipe: async () => {
      memory = memoryStore();
    },
  });
  try {
    const core = today === undefined ? {} : await import(today);
    await histories[history]?.(place, await loadReleases(core.createServiceAuth));
    return '';
  } catch (error) {
    return String((error as Error).stack);
  }
});
