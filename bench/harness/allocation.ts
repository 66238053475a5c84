import { memoryUsage } from 'node:process';

/** For processes that count allocations: nothing is collected meanwhile, for no call fills a young generation of this size. */
export const allocationFlags: readonly string[] = [
  '--expose-gc',
  '--min-semi-space-size=128',
  '--max-semi-space-size=256',
];

/** Bytes that one call leaves on the heap, garbage included. Needs {@link allocationFlags}. */
export async function bytesPerCall(run: () => unknown, calls = 2_000): Promise<number> {
  await repeat(run, calls);
  collectGarbage();
  const before = memoryUsage().heapUsed;
  await repeat(run, calls);
  return (memoryUsage().heapUsed - before) / calls;
}

/** The used part of the heap. */
export function heapInUse(): number {
  collectGarbage();
  return memoryUsage().heapUsed;
}

function collectGarbage(): void {
  if (!globalThis.gc) throw new Error('Garbage cannot be collected: this process needs --expose-gc.');
  globalThis.gc();
  globalThis.gc();
}

async function repeat(run: () => unknown, calls: number): Promise<void> {
  if (run() instanceof Promise) for (let call = 1; call < calls; call += 1) await run();
  else for (let call = 1; call < calls; call += 1) run();
}
