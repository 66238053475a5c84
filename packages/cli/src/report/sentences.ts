import { countsForMs } from '@service-auth/core/record';
import { hour, minute } from '../line/units.ts';
import { asksToWait, clockTime, counted, countedBy, duration, instant, windowName } from './text.ts';
import type { Hold, Usage } from './usage.ts';
import { isPartial, rejectionOf } from './whose.ts';

/** True if there is no limit. The record states a million tokens for that. */
export function isUnlimited({ limit }: Pick<Usage, 'limit'>): boolean {
  return limit >= 1_000_000;
}

/** Whether a caller without a token gets one, however many are spent. */
export function isUnbounded({ limit, enforce }: Pick<Usage, 'limit' | 'enforce'>): boolean {
  return isUnlimited({ limit }) || enforce === false;
}

export function spentOf(usage: Usage): string {
  const { used, usable, windowMs } = usage;
  return isUnlimited(usage)
    ? `${counted(used, 'token')} spent in ${windowName(windowMs)}, there is no limit`
    : `${used} of ${counted(usable, `usable ${countedBy(usage)}`)} spent`;
}

export function keptForResets({ available }: Usage): number {
  return Math.max(0, available.reset - available.cold);
}

/** The tokens that are left, those for resets among them. A new record allows fewer. */
export function leftIn(usage: Usage): number {
  const { newRecord, remaining } = usage;
  return newRecord ? Math.min(remaining, newRecord.remaining + keptForResets(usage)) : remaining;
}

/** What is left and cannot be spent now: `30 of the limit of 150 in reserve` and the like. */
export function heldBack(usage: Usage, now: number): string[] {
  const { limit, usable, used, remaining, newRecord } = usage;
  const reserve = limit - Math.max(used, usable);
  const held = remaining - leftIn(usage);
  return [
    ...(reserve > 0 ? [`${reserve} of the limit of ${limit} in reserve`] : []),
    ...(newRecord && held > 0
      ? [`${held} held back until ${instant(newRecord.until, now)} because the record is new`]
      : []),
  ];
}

/** When the budget will be spent. Empty: nobody can tell. */
export function forecast(usage: Usage, now: number): string {
  const { spentAt, windowMs, remaining, issuances, holds, newRecord } = usage;
  const isYoung = !isPartial(usage) && issuances.every(({ at }) => at > now - hour);
  // An hour is no pace yet, and a hold changes it.
  if ((spentAt === undefined || spentAt > now) && (isYoung || holds.length > 0)) return '';
  const pace = `If ${countedBy(usage)}s go on being spent as in the last ${windowName(windowMs / 4)}`;
  if (spentAt === undefined) return `${pace}, some of the budget will be left.`;
  if (spentAt > now) return `${pace}, the budget is spent at ${instant(spentAt, now)}.`;
  if (newRecord) return 'The record is new: what it allows at first is spent.';
  const kept = keptForResets(usage);
  return kept > 0 && kept === remaining
    ? `The budget is spent, but for ${counted(kept, countedBy(usage))} that only a reset of a leaked token may take.`
    : 'The budget is spent.';
}

/** What somebody said about tokens that the record has not seen. Empty: nobody said anything. */
export function spentElsewhereSentence(usage: Usage, now: number): string {
  const { spentElsewhere, windowMs } = usage;
  if (!spentElsewhere) return '';
  const { at, count, instance, reason } = spentElsewhere;
  const noun = countedBy(usage);
  const tokens = count === 0 ? `no ${noun}` : `at most ${counted(count, noun)}`;
  const counts = count === 0 ? '' : ` ${count === 1 ? 'It counts' : 'They count'} from then on.`;
  return `${instance} said at ${instant(at, now)} that ${tokens} of ${windowName(windowMs)} ${count > 1 ? 'are' : 'is'} missing from this record: "${reason}".${counts}`;
}

/** What the provider itself counts, as its token endpoint said. Empty: it said nothing. */
export function quotaSentences({ quota = [] }: Usage, now: number): string {
  const sentences = quota.map(({ tokens, remaining, windowMs, observedAt, resetAt, foreign }) => {
    const unknown =
      foreign > 0 ? ` At least ${foreign} of them ${foreign === 1 ? 'is' : 'are'} not in this record.` : '';
    return `At ${instant(observedAt, now)} the provider said that it counts ${tokens - remaining} of ${counted(tokens, 'token')} in its window of ${windowName(windowMs)}, which ends at ${instant(resetAt, now)}.${unknown}`;
  });
  return sentences.join(' ');
}

export function lastSpent({ issuances, underWay }: Usage, now: number): string {
  const [newest] = issuances;
  if (!newest) return 'No token was spent.';
  const { at, instance, reason, pending } = newest;
  const who = `${instant(at, now)}, for ${instance} (${reason})`;
  if (!pending) return `The last token was issued at ${who}.`;
  return underWay > 0 ? `A request is under way since ${who}.` : `The last request, of unknown outcome, was at ${who}.`;
}

export function nextSlots(usage: Usage, now: number): string {
  const { issuances, windowMs, nextFreeAt, pending } = usage;
  if (nextFreeAt === undefined) return '';
  const later = issuances
    .map(({ at, pending }) => at + countsForMs(windowMs, pending))
    .filter((at) => at > nextFreeAt + minute)
    .sort((a, b) => a - b)
    .slice(0, 3);
  // The day is written where it is another one than before.
  const times = later.map((at, index) => clockTime(at, later[index - 1] ?? nextFreeAt));
  const others = later.length === 0 ? '' : `, others at ${times.join(', ')}`;
  const unknown = pending > 0 ? `, or ${duration(countsForMs(windowMs, true))} if its outcome is unknown,` : '';
  const counts = `each counts for ${duration(countsForMs(windowMs, false))}${unknown} in case clocks change or differ`;
  return `The next ${countedBy(usage)} leaves the window at ${instant(nextFreeAt, now)}${others}; ${counts}.`;
}

export function holdSentence(hold: Hold, now: number): string {
  const { kind, until, audience, status } = hold;
  const answered = status === undefined ? 'did not answer' : `answered ${status}`;
  const [who, whom] = audience === undefined ? ['', ''] : [` of ${audience}`, ` for ${audience}`];
  const what: Readonly<Record<Hold['kind'], string>> = {
    credentials: `The token endpoint rejected the credentials${who} (${rejectionOf(hold, now)}). The same secret is tried again`,
    rate_limited: `The token endpoint ${asksToWait(status)}. No token is requested until`,
    backoff: `The token endpoint ${answered}. No token is requested${whom} until`,
    deaths: `Several processes died while they asked for a token. No token is requested${whom} until`,
    rejections: 'The API rejects tokens (401). They are replaced at growing intervals, the next one',
    renewal: `The last renewal${who} brought no later expiry. The next one is tried`,
  };
  const connects = what[kind].endsWith('until') ? ' ' : ' at ';
  return `${what[kind]}${connects}${instant(until, now)}.`;
}
