const minute = 60_000;

/** Returns how many in a row there were, and until when the next one waits: they are 1, 2, 4 … 60 minutes apart. An hour without one begins anew. */
export function spacingAfter(instants: readonly number[]): { readonly count: number; readonly until: number } {
  let [count, until] = [0, 0];
  for (const at of instants) {
    count = at <= until + 60 * minute ? count + 1 : 1;
    until = Math.max(until, at + Math.min(60, 2 ** (count - 1)) * minute);
  }
  return { count, until };
}
