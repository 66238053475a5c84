import { type Doubt, doubtsOf, forAudiences } from './doubts.ts';
import { clockTime, counted, countedBy, instant, windowName } from './text.ts';
import type { Failure, Hold, Usage } from './usage.ts';
import { audiencesIn, isPartial, joined, listed, rejectionOf, unsettledInRow } from './whose.ts';

const minute = 60_000;
const hour = 60 * minute;

/** Whether there is no limit. The record states a million tokens for that, which no fleet spends. */
export function isUnlimited({ limit }: Pick<Usage, 'limit'>): boolean {
  return limit >= 1_000_000;
}

/** Says how many tokens are spent, and of how many if there is a limit. */
export function spentOf(usage: Usage): string {
  const { used, usable, windowMs } = usage;
  return isUnlimited(usage)
    ? `${counted(used, 'token')} spent in ${windowName(windowMs)}, there is no limit`
    : `${used} of ${counted(usable, `usable ${countedBy(usage)}`)} spent`;
}

/** Returns whether a caller without a token is not refused, but waits for a token request that is under way. */
export function waitsForAnother({ availableNow, refusedUntil }: Usage): boolean {
  return availableNow === 0 && refusedUntil === undefined;
}

/** Says what a caller without a token can expect at this moment. Trouble of some audiences is told of these alone. */
export function availability(usage: Usage, failures: readonly Failure[], now: number): string {
  const { refusedUntil, tokens } = usage;
  const doubts = doubtsOf(usage, failures, now);
  const rejections = doubts.filter(({ kind }) => kind === 'rejections');
  const withoutToken = refusal(usage, now);
  if (refusedUntil === undefined) return doubts.length === 0 ? promise(usage, now) : doubtful(usage, doubts, now);
  if (rejections.length > 0 && tokens.length > 0)
    return `${withoutToken} Programs that use a token of the store keep it, but ${joined(rejections.map(({ text }) => text))}.`;
  const held = refusedAudiences(usage);
  if (tokens.length === 0) return held.length === 0 ? withoutToken : `${withoutToken} Others are not affected.`;
  if (held.length === 0) return `${withoutToken} Programs that use a token of the store are served all the same.`;
  const expiresAt = Math.min(...tokens.map((token) => token.expiresAt));
  return `${withoutToken} Others are not affected before their tokens expire, the first at ${instant(expiresAt, now)}.`;
}

function promise(usage: Usage, now: number): string {
  const { availableNow } = usage;
  if (waitsForAnother(usage)) return 'A caller without a token waits for a token request that is under way.';
  if (isUnlimited(usage)) return 'A caller without a token gets one now.';
  const kept = keptForResets(usage);
  const more = kept > 0 ? `, and ${kept} more for resets` : '';
  const all = `${counted(availableNow, countedBy(usage))} can be ${usage.counts ? 'sent' : 'issued'}`;
  const tokens = availableNow === 1 ? 'this is the last one' : all;
  return `A caller without a token gets one now; ${tokens}${more}.${whyFewer(usage, now)}`;
}

/** Says why fewer tokens can be had than are left of the limit. */
function whyFewer(usage: Usage, now: number): string {
  return usage.newRecord ? ` The record is new: it allows ${allowance(usage, now)}.` : '';
}

function doubtful(usage: Usage, doubts: readonly Doubt[], now: number): string {
  const { availableNow } = usage;
  const expected = doubts.map(({ kind, audiences }) =>
    kind === 'rejections'
      ? `A new token${forAudiences(audiences)} may be rejected like them.`
      : `A caller without a token${forAudiences(audiences)} may get none.`,
  );
  const others = availableNow > 0 && doubts.every(({ audiences }) => audiences.length > 0) ? ' Others get one.' : '';
  const texts = joined(doubts.map(({ text }) => text));
  const room = isUnlimited(usage)
    ? 'There is no limit, but'
    : `The limit leaves room for ${counted(availableNow, countedBy(usage))}, but`;
  const beginning = waitsForAnother(usage) ? 'The next token request waits for one that is under way, and' : room;
  return `${beginning} ${texts}. ${[...new Set(expected)].join(' ')}${others}${whyFewer(usage, now)}`;
}

const denying: readonly Hold['kind'][] = ['credentials', 'backoff', 'rate_limited', 'deaths'];

/** The audiences whose callers are refused while those of others are not. None: all callers without a token are refused, or none. */
function refusedAudiences({ holds, tokens, refusedBecause }: Usage): readonly string[] {
  if (refusedBecause !== 'credentials' && refusedBecause !== 'backoff') return [];
  const served = new Set(tokens.map(({ audience }) => audience));
  const found = holds.filter(({ kind }) => denying.includes(kind));
  const audiences = found.flatMap(({ audience }) => audience ?? []);
  if (audiences.length < found.length) return [];
  return [...new Set(audiences)].filter((audience) => !served.has(audience));
}

/** Says who is refused until when, and why. */
function refusal(usage: Usage, now: number): string {
  const { refusedUntil = now } = usage;
  const held = refusedAudiences(usage);
  const because = becauseOf(usage, now);
  if (held.length === 0) return `A caller without a token is refused until ${instant(refusedUntil, now)}: ${because}.`;
  const next = Math.min(...denyingHolds(usage, held).map(({ until }) => until));
  return `Programs for ${listed(held)} get no token: ${because}. The next try is at ${instant(next, now)}.`;
}

/** Says who is refused. An instant, until which they are, may follow. */
export function whoIsRefused(usage: Usage): string {
  const held = refusedAudiences(usage);
  if (held.length === 0) return 'callers without a token are refused';
  return `programs for ${listed(held)} are refused${held.length > 1 ? ', the last of them' : ''}`;
}

/** What a new record allows: `23 tokens until 14:02 (in 5 h)`. Empty: the record is not new. */
export function allowance(usage: Usage, now: number): string {
  const { newRecord } = usage;
  return newRecord ? `${counted(newRecord.allowed, countedBy(usage))} until ${instant(newRecord.until, now)}` : '';
}

/** Says why those callers are refused. */
export function becauseOf(usage: Usage, now: number): string {
  const { refusedBecause, newRecord } = usage;
  if (refusedBecause === 'full') return 'the record has no room for the token of another audience';
  if (refusedBecause === undefined || refusedBecause === 'limit')
    return newRecord
      ? `the record is new, and allows ${allowance(usage, now)}, unless service-auth record spent says what it has not seen`
      : `the budget has no room for another ${countedBy(usage)}`;
  const holds = denyingHolds(usage, refusedAudiences(usage));
  const causes = new Set(holds.map((hold) => causeOf(hold.kind, holds, usage)));
  return causes.size > 0
    ? joined([...causes])
    : 'after failures there is one token request at a time, and one is under way';
}

/** The holds that deny a token to these audiences. None: those that deny it to all. */
function denyingHolds({ holds }: Usage, audiences: readonly string[]): readonly Hold[] {
  const own: readonly (string | undefined)[] = audiences.length === 0 ? [undefined] : audiences;
  return holds.filter(({ kind, audience }) => denying.includes(kind) && own.includes(audience));
}

function causeOf(kind: Hold['kind'], holds: readonly Hold[], usage: Usage): string {
  const own = holds.filter((hold) => hold.kind === kind);
  const statuses = [...new Set(own.map(({ status }) => status ?? 'no answer'))].join(', ');
  const rejections = [...new Set(own.map((hold) => rejectionOf(hold)))].join('; ');
  switch (kind) {
    case 'credentials':
      return `the token endpoint rejected their credentials (${rejections})`;
    case 'rate_limited':
      return 'the token endpoint answered 429';
    case 'deaths':
      return `programs that asked for a token${forAudiences(audiencesIn(unsettledInRow(usage)))} ended before the answer`;
    case 'backoff':
      return `the token endpoint failed (${statuses})`;
    case 'rejections':
      return 'the API rejected tokens (401)';
    case 'renewal':
      return 'the last renewal brought no later expiry';
    case 'unreadable':
      return 'a token could not be decrypted';
  }
}

/** The tokens that are left for resets alone. */
export function keptForResets({ available }: Usage): number {
  return Math.max(0, available.reset - available.cold);
}

/** The tokens that are left: those that a new record allows, or the whole rest of the limit. Those for resets are among them. */
export function leftIn(usage: Usage): number {
  const { newRecord, remaining } = usage;
  return newRecord ? Math.min(remaining, newRecord.remaining + keptForResets(usage)) : remaining;
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

/** What the operator itself counts, as its token endpoint said. Empty: it said nothing. */
export function quotaSentences({ quota = [] }: Usage, now: number): string {
  const sentences = quota.map(({ tokens, remaining, windowMs, observedAt, resetAt, foreign }) => {
    const unknown =
      foreign > 0 ? ` At least ${foreign} of them ${foreign === 1 ? 'is' : 'are'} not in this record.` : '';
    return `At ${instant(observedAt, now)} the operator said that it counts ${tokens - remaining} of ${counted(tokens, 'token')} in its window of ${windowName(windowMs)}, which ends at ${instant(resetAt, now)}.${unknown}`;
  });
  return sentences.join(' ');
}

/** When the newest token was spent, by whom and why. */
export function lastSpent({ issuances, underWay }: Usage, now: number): string {
  const [newest] = issuances;
  if (!newest) return 'No token was spent.';
  const { at, instance, reason, pending } = newest;
  const who = `${instant(at, now)}, for ${instance} (${reason})`;
  if (!pending) return `The last token was issued at ${who}.`;
  return underWay > 0 ? `A request is under way since ${who}.` : `The last request, of unknown outcome, was at ${who}.`;
}

/** Says how long a token counts, as `nextFreeAt` of core documents it. */
function spanMs(windowMs: number, pending: boolean): number {
  const rest = pending
    ? Math.min(2 * hour, Math.max(7 * minute, windowMs / 12))
    : Math.min(10 * minute, windowMs / 144);
  return windowMs + Math.min(hour, windowMs / 24) + rest;
}

/** When the next tokens leave the window. */
export function nextSlots(usage: Usage, now: number): string {
  const { issuances, windowMs, nextFreeAt } = usage;
  if (nextFreeAt === undefined) return '';
  const later = issuances
    .map(({ at, pending }) => at + spanMs(windowMs, pending))
    .filter((at) => at > nextFreeAt + minute)
    .sort((a, b) => a - b)
    .slice(0, 3);
  // The day is written where it is another one than before.
  const times = later.map((at, index) => clockTime(at, later[index - 1] ?? nextFreeAt));
  const others = later.length === 0 ? '' : `, others at ${times.join(', ')}`;
  return `The next ${countedBy(usage)} leaves the window at ${instant(nextFreeAt, now)}${others}.`;
}

/** Says what a hold means, and until when. */
export function holdSentence(hold: Hold, now: number): string {
  const { kind, until, audience, status } = hold;
  const answered = status === undefined ? 'did not answer' : `answered ${status}`;
  const [who, whom] = audience === undefined ? ['', ''] : [` of ${audience}`, ` for ${audience}`];
  const what: Readonly<Record<Hold['kind'], string>> = {
    credentials: `The token endpoint rejected the credentials${who} (${rejectionOf(hold, now)}). The same secret is tried again`,
    rate_limited: 'The token endpoint answered 429. No token is requested until',
    backoff: `The token endpoint ${answered}. No token is requested${whom} until`,
    deaths: `Several processes died while they asked for a token. No token is requested${whom} until`,
    rejections: 'The API rejects tokens (401). They are replaced at growing intervals, the next one',
    renewal: `The last renewal${who} brought no later expiry. The next one is tried`,
    unreadable: `A token${who} could not be decrypted and was replaced. The next such replacement is possible`,
  };
  const connects = what[kind].endsWith('until') ? ' ' : ' at ';
  return `${what[kind]}${connects}${instant(until, now)}.`;
}
