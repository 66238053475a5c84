import { type Doubt, doubtsOf, forAudiences } from './doubts.ts';
import { isUnbounded, isUnlimited, keptForResets } from './sentences.ts';
import { asksToWait, counted, countedBy, instant } from './text.ts';
import type { Failure, Hold, Usage } from './usage.ts';
import { audiencesIn, joined, listed, nextTryAt, rejectionOf, unsettledInRow } from './whose.ts';

/** True if a caller without a token is not refused, but waits for a request under way. */
export function waitsForAnother({ availableNow, refusedUntil }: Usage): boolean {
  return availableNow === 0 && refusedUntil === undefined;
}

/** Says what a caller without a token can expect now, for all audiences or for those in trouble. */
export function availability(usage: Usage, failures: readonly Failure[], now: number): string {
  const { refusedUntil, tokens } = usage;
  const doubts = doubtsOf(usage, failures, now);
  const rejections = doubts.filter(({ kind }) => kind === 'rejections');
  const withoutToken = refusal(usage, now);
  if (refusedUntil === undefined) return doubts.length === 0 ? promise(usage) : doubtful(usage, doubts);
  if (rejections.length > 0 && tokens.length > 0)
    return `${withoutToken} Programs that use a token of the store keep it, but ${joined(rejections.map(({ text }) => text))}.`;
  const held = refusedAudiences(usage);
  if (tokens.length === 0) return held.length === 0 ? withoutToken : `${withoutToken} Others are not affected.`;
  if (held.length === 0) return `${withoutToken} Programs that use a token of the store are served all the same.`;
  const expiresAt = Math.min(...tokens.map((token) => token.expiresAt));
  return `${withoutToken} Others are not affected before their tokens expire, the first at ${instant(expiresAt, now)}.`;
}

function promise(usage: Usage): string {
  const { availableNow } = usage;
  if (waitsForAnother(usage)) return 'A caller without a token waits for a token request that is under way.';
  if (isUnlimited(usage)) return 'A caller without a token gets one now.';
  if (isUnbounded(usage)) return 'A caller without a token gets one now, because the limit is not enforced.';
  const kept = keptForResets(usage);
  const more = kept > 0 ? `, and ${kept} more for resets` : '';
  const all = `${counted(availableNow, countedBy(usage))} can be ${usage.counts ? 'sent' : 'issued'}`;
  const tokens = availableNow === 1 ? 'this is the last one' : all;
  return `A caller without a token gets one now; ${tokens}${more}.`;
}

function doubtful(usage: Usage, doubts: readonly Doubt[]): string {
  const { availableNow } = usage;
  const expected = doubts.map(({ kind, audiences }) =>
    kind === 'rejections'
      ? `A new token${forAudiences(audiences)} may be rejected like them.`
      : `A caller without a token${forAudiences(audiences)} may get none.`,
  );
  const others = availableNow > 0 && doubts.every(({ audiences }) => audiences.length > 0) ? ' Others get one.' : '';
  const texts = joined(doubts.map(({ text }) => text));
  const room = isUnbounded(usage)
    ? `${isUnlimited(usage) ? 'There is no limit' : 'The limit is not enforced'}, but`
    : `The limit leaves room for ${counted(availableNow, countedBy(usage))}, but`;
  const beginning = waitsForAnother(usage) ? 'The next token request waits for one that is under way, and' : room;
  return `${beginning} ${texts}. ${[...new Set(expected)].join(' ')}${others}`;
}

/** True if a hold of this kind refuses callers without a token. */
const denies: Readonly<Record<Hold['kind'], boolean>> = {
  credentials: true,
  backoff: true,
  rate_limited: true,
  deaths: true,
  rejections: false,
  renewal: false,
};

/** The audiences whose callers alone are refused. None: all callers are, or none. */
function refusedAudiences({ holds, tokens, refusedBecause }: Usage): readonly string[] {
  if (refusedBecause !== 'credentials' && refusedBecause !== 'backoff') return [];
  const served = new Set(tokens.map(({ audience }) => audience));
  const found = holds.filter(({ kind }) => denies[kind]);
  const audiences = found.flatMap(({ audience }) => audience ?? []);
  if (audiences.length < found.length) return [];
  return [...new Set(audiences)].filter((audience) => !served.has(audience));
}

function refusal(usage: Usage, now: number): string {
  const { refusedUntil = now } = usage;
  const held = refusedAudiences(usage);
  const because = becauseOf(usage, now);
  if (held.length === 0) return `A caller without a token is refused until ${instant(refusedUntil, now)}: ${because}.`;
  const next = nextTryAt(denyingHolds(usage, held));
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
  return holds.filter(({ kind, audience }) => denies[kind] && own.includes(audience));
}

function causeOf(kind: Hold['kind'], holds: readonly Hold[], usage: Usage): string {
  const own = holds.filter((hold) => hold.kind === kind);
  const statuses = [...new Set(own.map(({ status }) => status ?? 'no answer'))].join(', ');
  const rejections = [...new Set(own.map((hold) => rejectionOf(hold)))].join('; ');
  switch (kind) {
    case 'credentials':
      return `the token endpoint rejected their credentials (${rejections})`;
    case 'rate_limited':
      return `the token endpoint ${asksToWait(own[0]?.status)}`;
    case 'deaths':
      return `programs that asked for a token${forAudiences(audiencesIn(unsettledInRow(usage)))} ended before the answer`;
    default:
      return `the token endpoint failed (${statuses})`;
  }
}
