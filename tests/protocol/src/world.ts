import type { Time } from './judge/scene.ts';
import { fnv } from './random.ts';

/** Virtual time: nothing happens but what is scheduled here, in one order. */
export interface World extends Time {
  /** The number of events so far. */
  readonly events: number;
  /** Runs `event` at `time` (now, if that has passed), after everything scheduled for that time before. Returns a function that cancels. */
  at(time: number, event: () => void): () => void;
  /** Runs all events up to `time`. */
  runUntil(time: number): Promise<void>;
  /** Tells two runs apart. */
  traceHash(): string;
}

interface Scheduled {
  readonly time: number;
  event: (() => void) | undefined;
}

/** More events than any run needs, unless a process asks repeatedly without a pause. */
const defaultMaxEvents = 250_000;

/** Creates a world. `exhausted`: called when it ends because so much happened; `print`: receives every line of the trace. */
export function createWorld(
  exhausted: () => void = endless,
  print?: (line: string) => void,
  maxEvents: number = defaultMaxEvents,
): World {
  /** The next one is the last. */
  const schedule: Scheduled[] = [];
  let hash = fnv('');
  let second = fnv('+');

  /** The next event up to `end`, for which it is time then. */
  function next(end: number): (() => void) | undefined {
    for (let first = schedule.at(-1); first !== undefined && first.time <= end; first = schedule.at(-1)) {
      schedule.pop();
      if (first.event === undefined) continue;
      world.now = first.time;
      return first.event;
    }
    return undefined;
  }

  const world = {
    now: 0,
    events: 0,
    at(time: number, event: () => void) {
      // Eighths of a millisecond are exact in binary, so that no sum of instants depends on its order.
      const scheduled: Scheduled = { time: Math.max(world.now, Math.ceil(time * 8) / 8), event };
      schedule.splice(placeOf(scheduled, schedule), 0, scheduled);
      return () => {
        scheduled.event = undefined;
      };
    },
    async runUntil(end: number) {
      await turns(() => {
        const event = next(end);
        if (event === undefined) return false;
        world.events += 1;
        if (world.events === maxEvents) exhausted();
        if (world.events >= maxEvents) return false;
        event();
        return true;
      });
      world.now = Math.max(world.now, end);
    },
    note(line: string) {
      const text = `${world.now.toFixed(3)} ${line}`;
      hash = fnv(text, hash);
      second = fnv(text, second);
      print?.(text);
    },
    traceHash: () => hash.toString(16).padStart(8, '0') + second.toString(16).padStart(8, '0'),
  };
  return world;
}

function endless(): never {
  throw new Error('The run has no end.');
}

const turnsAtOnce = 64;

/**
 * Does `step` until it returns false, each in a turn of its own: between two of them all promises that the first has settled run, and rejections
 * that nobody handled are reported. RequestSemaphore are asked for by the dozen, for the event loop looks at the operating system only after all of them.
 */
function turns(step: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let goesOn = true;
    const turn = () => {
      try {
        goesOn &&= step();
      } catch (error) {
        goesOn = false;
        reject(error);
      }
    };
    const round = () => {
      if (!goesOn) return resolve();
      for (let count = 0; count < turnsAtOnce; count++) setImmediate(turn);
      setImmediate(round);
    };
    round();
  });
}

/** Before all that is later, and after all that is not. */
function placeOf({ time }: Scheduled, schedule: readonly Scheduled[]): number {
  let [least, most] = [0, schedule.length];
  while (least < most) {
    const middle = (least + most) >> 1;
    if ((schedule[middle] as Scheduled).time > time) least = middle + 1;
    else most = middle;
  }
  return least;
}
