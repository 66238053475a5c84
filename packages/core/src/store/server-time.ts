/**
 * Returns the time of a server in epoch milliseconds, by the `Date` header of its answer (RFC 9110,
 * 6.6.1): the `now` of a store whose server has no other clock. The header has whole seconds, so
 * the time is up to a second behind.
 * @throws TypeError if there is no such header, or it is no date
 */
export function timeOfDate(date: string | null | undefined): number {
  const time = Date.parse(date ?? '');
  if (Number.isFinite(time)) return time;
  const advice = 'its answers have no Date header, which is the clock of this store. Does a proxy remove it?';
  throw Object.assign(new TypeError(advice), { advice });
}
