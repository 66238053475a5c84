import assert from 'node:assert/strict';

/**
 * Rejects if `promise` is still pending after `limitMs` of real time: for what a broken client or
 * store would wait for in vain.
 */
export async function within<Value>(promise: Promise<Value>, what: string, limitMs = 5_000): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const message = `${what} took more than ${limitMs} ms`;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new assert.AssertionError({ message })), limitMs);
  });
  try {
    return await Promise.race([promise, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
