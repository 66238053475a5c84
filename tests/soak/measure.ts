import { getEventListeners } from 'node:events';
import type { TestClock } from '@service-auth/testing';
import { heapInUse } from './heap.ts';

/** Something that is done very often. */
export interface Exercise {
  readonly clock: TestClock;
  /** A signal that outlives all that was done with it. */
  readonly signal: AbortSignal;
  /** Does it `times` times, and leaves nothing under way. */
  run(times: number): Promise<void>;
}

/** The remaining resources. */
export interface Remains {
  /** Kilobytes of heap that the second half of the exercise added. In the first, tables and caches take the size they keep. */
  readonly kilobytes: number;
  /** Listeners of the signal. */
  readonly listeners: number;
  /** Timers of the clock. */
  readonly timers: number;
  /** Sockets, timers and requests that keep the process running, above those from before. */
  readonly handles: number;
  readonly seconds: number;
}

/** The usual variation of a heap of a few megabytes between two collections. */
const noiseKilobytes = 512;

/** Repeats an exercise this often, and measures the memory that remains. */
export async function measure(exercise: Exercise, times: number): Promise<Remains> {
  const startedAt = performance.now();
  const handles = process.getActiveResourcesInfo().length;
  await half(exercise, times);
  const before = await heapInUse();
  await half(exercise, times);
  const after = await heapInUse();
  const { background, foreground } = exercise.clock.pendingTimers;
  return {
    kilobytes: Math.round((after - before) / 1_024),
    listeners: getEventListeners(exercise.signal, 'abort').length,
    timers: background + foreground,
    handles: process.getActiveResourcesInfo().length - handles,
    seconds: Math.round((performance.now() - startedAt) / 100) / 10,
  };
}

/** True if something was left behind. */
export function isLeak({ kilobytes, listeners, timers, handles }: Remains): boolean {
  return kilobytes > noiseKilobytes || listeners > 0 || timers > 0 || handles > 0;
}

/** In five parts: what is under way at the same time must not be what is measured. */
async function half(exercise: Exercise, times: number): Promise<void> {
  for (let part = 0; part < 5; part += 1) await exercise.run(times / 10);
}
