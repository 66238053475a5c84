// Core keeps its default store here, for all copies of its module in the process.
const memoryKey = Symbol.for('@service-auth/core memory 1');

/**
 * Empties the memory that clients without a `store` share in this process, for `afterEach`: clients
 * that are created afterwards find no token, no count and no failure of an earlier test, whatever
 * copy of core they come from. A client that exists keeps the token in its own memory, so create
 * clients in the test. Stores of `memoryStore()` and clients with a `clock` are not concerned.
 */
export function clearMemoryStore(): void {
  const memory = Reflect.get(globalThis, memoryKey) as { records: Map<string, unknown> } | undefined;
  if (memory) memory.records = new Map();
}
