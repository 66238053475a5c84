import type { OpenStore } from '../../src/index.ts';
import type { Mistake } from '../support/controls.ts';
import { clockMistakes } from './stores/clocks.ts';
import { contentMistakes } from './stores/contents.ts';
import { enduranceMistakes } from './stores/endurance.ts';
import { versionMistakes } from './stores/versions.ts';

/** Mistakes that stores make. Every case of `storeContract` is in `caughtBy` of at least one. */
export const storeMistakes: readonly Mistake<OpenStore>[] = [
  ...versionMistakes,
  ...enduranceMistakes,
  ...clockMistakes,
  ...contentMistakes,
];
