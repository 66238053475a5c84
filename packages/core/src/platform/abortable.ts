/** Settles as `promise` does. If `signal` aborts before that, rejects with its reason; what becomes of the promise is ignored then. */
export function abortable<Result>(promise: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    // Options are left out, because the platform would read those that they lack from a polluted prototype.
    signal.addEventListener('abort', abort);
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
