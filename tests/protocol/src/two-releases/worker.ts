import { memoryStore } from '@service-auth/core';
import { serve } from '../children.ts';
import { problemOf } from './histories.ts';

/** A history. `today`: the address of another build of today's core. */
export interface HistoryTask {
  readonly history: string;
  readonly today?: string;
}

serve(({ history, today }: HistoryTask): Promise<string> => {
  let memory = memoryStore();
  const wipe = async () => {
    memory = memoryStore();
  };
  const open = () => ({
    durability: 'durable' as const,
    load: (...call: Parameters<typeof memory.load>) => memory.load(...call),
    swap: (...call: Parameters<typeof memory.swap>) => memory.swap(...call),
  });
  return problemOf(history, { open, wipe }, today);
});
