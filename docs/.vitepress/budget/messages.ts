import type { Picture } from './picture.ts';
import type { Incident, Settings } from './settings.ts';

/** `start`: begins a day, in place of the one before. `run`: lets the time go on. `add`: lets something happen later. */
export type Order =
  | { readonly type: 'start'; readonly settings: Settings }
  | { readonly type: 'run'; readonly until: number }
  | { readonly type: 'add'; readonly incident: Incident };

/** An order to the worker, which it answers with a picture. */
export type Request = Order & { readonly id: number };

/** The answer to a request: the day at this moment, or why the day cannot go on. */
export type Answer =
  | { readonly id: number; readonly picture: Picture }
  | { readonly id: number; readonly failure: string };
