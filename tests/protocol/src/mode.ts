import type { Random } from './random.ts';
import type { Settings } from './settings.ts';

/** A family of runs: its faults, and the promises that are checked. */
export interface Mode {
  readonly about: string;
  /** Outside the stated assumptions: a violation is a figure, and no bug. */
  readonly isControl?: true;
  /** About how many seeds of another mode take as long as one of this. Default 1. */
  readonly weight?: number;
  /** What is not as usual: `drawn` of settings.ts draws the rest. */
  settings(random: Random): Partial<Settings>;
}
