import { clockTime, counted, instant } from './text.ts';
import type { Hold, Usage } from './usage.ts';

const becauses: Readonly<Record<NonNullable<Usage['refusedBecause']>, string>> = {
  limit: 'the budget has no room for it',
  backoff: 'the token endpoint failed, and nobody asks it before then',
  rate_limited: 'the token endpoint answered 429, and nobody asks it before then',
  credentials: 'the token endpoint rejected the credentials',
  full: 'the record has no room for the token of another audience',
};

/** Says what a caller without a token gets at this moment. */
export function availability({ availableNow, refusedUntil, refusedBecause, tokens }: Usage, now: number): string {
  if (refusedUntil === undefined) {
    return `A caller without a token gets one now; ${availableNow === 1 ? 'this is the last one' : `${counted(availableNow, 'token')} can be issued`}.`;
  }
  const because = refusedBecause === undefined ? '' : `: ${becauses[refusedBecause]}`;
  const served = tokens.length > 0 ? ' Programs that use a token of the store are served all the same.' : '';
  return `A caller without a token is refused until ${instant(refusedUntil, now)}${because}.${served}`;
}

/** When the budget will be spent. */
export function forecast({ spentAt }: Usage, now: number): string {
  if (spentAt === undefined) return 'At the present pace the budget will not be spent.';
  if (spentAt <= now) return 'The budget is spent.';
  return `At the present pace the budget is spent at ${instant(spentAt, now)}.`;
}

const minute = 60_000;
const hour = 60 * minute;

/** Says how long a token counts, as `nextFreeAt` of core documents it. */
function spanMs(windowMs: number, pending: boolean): number {
  const rest = pending
    ? Math.min(2 * hour, Math.max(7 * minute, windowMs / 12))
    : Math.min(10 * minute, windowMs / 144);
  return windowMs + Math.min(hour, windowMs / 24) + rest;
}

/** When the next tokens leave the window. */
export function nextSlots({ issuances, windowMs, nextFreeAt }: Usage, now: number): string {
  if (nextFreeAt === undefined) return '';
  const later = issuances
    .map(({ at, pending }) => at + spanMs(windowMs, pending))
    .filter((at) => at > nextFreeAt + minute)
    .sort((a, b) => a - b)
    .slice(0, 3);
  // The day is written where it is another one than before.
  const times = later.map((at, index) => clockTime(at, later[index - 1] ?? nextFreeAt));
  const others = later.length === 0 ? '' : `, others at ${times.join(', ')}`;
  return `The next token leaves the window at ${instant(nextFreeAt, now)}${others}.`;
}

/** Says what a hold means, and until when. */
export function holdSentence({ kind, until, audience, status }: Hold, now: number): string {
  const answered = status === undefined ? 'did not answer' : `answered ${status}`;
  const who = audience === undefined ? '' : ` of ${audience}`;
  const what: Readonly<Record<Hold['kind'], string>> = {
    credentials: `The token endpoint rejected the credentials${who} (${status ?? 'no status'}). The same secret is tried again`,
    rate_limited: 'The token endpoint answered 429. Nobody asks it again before',
    backoff: `The token endpoint ${answered}. Nobody asks it again before`,
    deaths: 'Several processes died while they asked for a token. Nobody asks again before',
    rejections: 'The API rejects tokens (401). They are replaced at growing intervals, the next one',
    renewal: `The last renewal${who} brought no later expiry. The next one is tried`,
    unreadable: `A token${who} could not be decrypted and was replaced. The next such replacement is possible`,
  };
  const connects = what[kind].endsWith('before') ? ' ' : ' at ';
  return `${what[kind]}${connects}${instant(until, now)}.`;
}
