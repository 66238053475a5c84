/**
 * Calls a function of the application and ignores its errors: those that it throws, and rejections
 * of a promise or thenable that it returns, from any realm (a `vm` context, Jest) or library, even
 * if its `then` throws.
 */
export function callIgnoringErrors<Value>(callback: ((value: Value) => unknown) | undefined, value: Value): void {
  try {
    ignoreRejection(callback?.(value));
  } catch {}
}

function ignoreRejection(returned: unknown): void {
  // Most listeners return nothing. Reading a property of undefined would throw, and that takes
  // longer than all the rest of an event.
  if (returned === undefined) return;
  let promise = returned;
  try {
    const { then } = returned as { then?: unknown };
    if (typeof then !== 'function') return;
    // If `then` is an async function, it returns another promise, which rejects when that function
    // throws. A thenable may resolve with a promise that rejects.
    promise = then.call(returned, ignoreRejection, ignore);
  } catch {
    // Its `then` throws. If it is a promise nevertheless, the `then` of all promises works.
  }
  try {
    void Promise.prototype.then.call(promise, ignore, ignore);
  } catch {
    // It is no promise.
  }
}

function ignore(): void {}
