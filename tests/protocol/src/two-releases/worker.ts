import { memoryStore } from '@service-auth/core';
import { serve } from '../children.ts';
import { histories } from './histories.ts';
import { createPlace } from './place.ts';
import { loadReleases } from './releases.ts';

/** Resolves with why a history is not as it must be; an empty text: it is. */
serve(async (name: string): Promise<string> => {
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
    await histories[name]?.(place, await loadReleases());
    return '';
  } catch (error) {
    return String((error as Error).stack);
  }
});
