import { serve } from '../children.ts';
import { histories } from './histories.ts';
import { loadNextRelease } from './next-release.ts';

/** Resolves with why a history is not as it must be; an empty text: it is. */
serve(async (name: string): Promise<string> => {
  try {
    await histories[name]?.(await loadNextRelease());
    return '';
  } catch (error) {
    return String((error as Error).stack);
  }
});
