import { clockTime, counted, grouped, ranked } from './text.ts';
import type { Failure, Hold, Issuance, Usage } from './usage.ts';

/** The record lists so many issuances. */
const most = 150;

/** True if there are older issuances than the listed ones. Refused requests are none. */
export function isPartial({ counts, issuances, used }: Usage): boolean {
  return issuances.length < used && (!counts || issuances.length >= most);
}

/** Requests of unknown outcome, without those that are under way. The newest comes first. */
export function unsettled({ issuances, underWay }: Usage): Issuance[] {
  return issuances.filter(({ pending }) => pending).slice(underWay);
}

/** The requests of unknown outcome since a token was issued. */
export function unsettledInRow(usage: Usage): Issuance[] {
  const issuedAt = usage.issuances.find(({ pending }) => !pending)?.at ?? 0;
  return unsettled(usage).filter(({ at }) => at > issuedAt);
}

/** The audiences of issuances. The one that has most comes first. */
export function audiencesIn(issuances: readonly Issuance[]): string[] {
  return ranked(issuances, ({ audience }) => audience).map(([audience]) => audience);
}

/** Names three audiences at most, or `5 audiences, such as https://a/ and https://b/`. */
export function listed(audiences: readonly string[]): string {
  return audiences.length <= 3
    ? joined(audiences)
    : `${audiences.length} audiences, such as ${joined(audiences.slice(0, 2))}`;
}

/** Names the instances: `instance x`, or `3 instances, 40 of 43 tokens by x`. */
export function culprits(issuances: readonly Issuance[]): string {
  const groups = ranked(issuances, ({ instance }) => instance);
  const [[name, own] = ['', []]] = groups;
  if (groups.length === 1) return `instance ${name}`;
  if (own.length * 2 > issuances.length)
    return `${groups.length} instances, ${own.length} of ${counted(issuances.length, 'token')} by ${name}`;
  const some = groups.slice(0, 3).map(([instance]) => instance);
  return `${groups.length} instances${groups.length <= 3 ? ': ' : ', such as '}${joined(some)}`;
}

export function byOwnClock(failure: Failure, { storeAheadMs }: Usage): Failure {
  const { retryAt, failedAt, tokenExpiresAt } = failure;
  const local = (at: number | undefined) => at && at - storeAheadMs;
  return {
    ...failure,
    retryAt: retryAt - storeAheadMs,
    failedAt: local(failedAt),
    tokenExpiresAt: local(tokenExpiresAt),
  };
}

/** True if the instance got a token for this audience later: it has other credentials now. */
export function isCorrected(
  { audience, instance, failedAt = 0 }: Pick<Hold, 'audience' | 'instance' | 'failedAt'>,
  { issuances }: Usage,
): boolean {
  return issuances.some(
    (issuance) =>
      !issuance.pending && issuance.audience === audience && issuance.instance === instance && issuance.at > failedAt,
  );
}

/** When the first audience may ask again. One with several holds waits for the last of them. */
export function nextTryAt(holds: readonly Hold[]): number {
  const groups = [...grouped(holds, ({ audience = '' }) => audience).values()];
  return Math.min(...groups.map((group) => Math.max(...group.map(({ until }) => until))));
}

/** Who was rejected: `401, instance x at 14:02`. Without `now` the time is left out. */
export function rejectionOf(
  { status, instance, failedAt }: Pick<Hold, 'status' | 'instance' | 'failedAt'>,
  now?: number,
): string {
  const when = failedAt === undefined || now === undefined ? '' : ` at ${clockTime(failedAt, now)}`;
  return `${status ?? 'no status'}${instance === undefined ? '' : `, instance ${instance}${when}`}`;
}

/** Joins parts of a sentence: `a, b and c`. */
export function joined(texts: readonly string[]): string {
  return [texts.slice(0, -1).join(', '), texts.at(-1) ?? ''].filter((text) => text !== '').join(' and ');
}
