import type { Random } from './random.ts';
import type { Settings } from './settings.ts';

/** A family of runs: its faults, and the promises that are checked. */
export interface Mode {
  readonly about: string;
  /** Within the stated assumptions: a violation is a bug. False: a control, or beyond the assumptions. */
  readonly promised: boolean;
  /** About how many seeds of another mode take as long as one of this. */
  readonly weight?: number;
  settings(random: Random): Settings;
}
