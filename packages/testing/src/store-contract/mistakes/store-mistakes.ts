import type { Mistake } from '../../contract/controls.ts';
import type { OpenStore } from '../subject.ts';
import { clockMistakes } from './clocks.ts';
import { contentMistakes } from './contents.ts';
import { enduranceMistakes } from './endurance.ts';
import { versionMistakes } from './versions.ts';

/**
 * Mistakes that stores make, for {@link controls}: lost updates, two clocks, reads from a replica that is behind, records that are truncated, and so
 * on. Every case of `storeContract` is in `caughtBy` of at least one.
 */
export const storeMistakes: readonly Mistake<OpenStore>[] = [
  ...versionMistakes,
  ...enduranceMistakes,
  ...clockMistakes,
  ...contentMistakes,
];
