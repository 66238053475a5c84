/** Resolves as the promise does, or with `late` if that takes longer. */
export function within<Result, Late>(ms: number, promise: Promise<Result>, late: Late): Promise<Result | Late> {
  let timer: NodeJS.Timeout | undefined;
  const end = new Promise<Late>((resolve) => {
    timer = setTimeout(resolve, ms, late);
  });
  return Promise.race([promise, end]).finally(() => clearTimeout(timer));
}
