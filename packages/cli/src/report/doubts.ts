import { hour } from '../line/units.ts';
import { clockTime, grouped } from './text.ts';
import type { Failure, Usage } from './usage.ts';
import { audiencesIn, isCorrected, listed, rejectionOf, unsettledInRow } from './whose.ts';

/** Failures in a row: a caller may get no token, or none that helps, though the limit has room. */
export interface Doubt {
  readonly kind: Failure['kind'];
  readonly count: number;
  /** The audiences that it is about. None: it is about all. */
  readonly audiences: readonly string[];
  /** A sentence without a full stop. */
  readonly text: string;
}

/** Returns the failures in a row that somebody may still have. */
export function openFailures(usage: Usage, failures: readonly Failure[], now: number): Failure[] {
  return failures.filter((failure) => {
    const { kind, count, retryAt, audience } = failure;
    // Somebody who still had the trouble would have tried again within this time. The other kinds
    // end with the next token.
    const isRecent = now <= retryAt + hour;
    if (kind === 'credentials') return isRecent && !isCorrected(failure, usage);
    // A single 401 is the usual end of a token that was revoked.
    if (kind === 'rejections') return isRecent && count > 1;
    return audience === undefined || isRecent;
  });
}

/** Returns what a caller has to fear, although the limit has room. */
export function doubtsOf(usage: Usage, failures: readonly Failure[], now: number): Doubt[] {
  const doubts = openFailures(usage, failures, now).flatMap((failure) => doubtsAbout(failure, usage, now));
  // One audience has a state for each key.
  return [...new Map(doubts.map((doubt) => [doubt.text, doubt])).values()];
}

function doubtsAbout(failure: Failure, usage: Usage, now: number): Doubt[] {
  const { kind, count, status, audience, tokenExpiresAt } = failure;
  const told = (text: string, audiences: readonly string[]) => [{ kind, count, audiences, text }];
  const own = audience === undefined ? [] : [audience];
  switch (kind) {
    case 'backoff':
      return told(
        `${last(count, 'token request')}${forAudiences(own)} brought no token (${status === undefined ? 'no usable answer' : `the endpoint answered ${status}`})`,
        own,
      );
    case 'credentials': {
      const isServed = usage.tokens.some((token) => token.audience === audience);
      const isOfOthers = isServed && tokenExpiresAt === undefined;
      const rejects = `the token endpoint rejected the credentials${isOfOthers ? ' of some programs' : ''} for ${audience} (${rejectionOf(failure, now)})`;
      if (tokenExpiresAt === undefined) return told(rejects, own);
      return told(`${rejects}, whose token lives until ${clockTime(tokenExpiresAt, now)}`, own);
    }
    case 'deaths': {
      const row = unsettledInRow(usage);
      const audiences = audiencesIn(row);
      const requests = last(row.length || count, 'token request');
      return told(
        `the programs of ${requests}${forAudiences(audiences)} ended, or stood still, before the answer`,
        audiences,
      );
    }
    case 'rejections':
      return rejected(failure, usage);
    case 'rate_limited':
      return told(`the token endpoint answered ${status ?? 429} to ${last(count, 'token request')}`, []);
  }
}

/** The API of each audience that rejected tokens. The newest issuances show whose they were. */
function rejected({ kind, count, audience: own }: Failure, { issuances }: Usage): Doubt[] {
  const told = (text: string, audiences: readonly string[]) => ({ kind, count, audiences, text });
  const newest = issuances
    .filter(({ reason, audience }) => reason === 'rejected' && (own === undefined || audience === own))
    .slice(0, count);
  if (newest.length === 0) {
    const [whose, audiences] = own === undefined ? ['', []] : [` of ${own}`, [own]];
    return [told(`the API${whose} rejected ${last(count, 'token')} (401)`, audiences)];
  }
  return [...grouped(newest, ({ audience }) => audience)].map(([audience, group]) => {
    const instances = new Set(group.map(({ instance }) => instance));
    const [instance = ''] = instances;
    const isOne = instances.size === 1;
    const since = group.at(-1)?.at ?? 0;
    const others = issuances.some(
      (other) =>
        other.audience === audience &&
        (!isOne || other.instance === instance) &&
        other.at > since &&
        other.reason !== 'rejected',
    );
    const tokens = others ? `${group.length} tokens` : last(group.length, 'token');
    return told(`the API of ${audience} rejected ${tokens}${isOne ? ` of ${instance}` : ''} (401)`, [audience]);
  });
}

function last(count: number, noun: string): string {
  return count === 1 ? `the last ${noun}` : `the last ${count} ${noun}s`;
}

/** ` for https://a/`, or nothing if it is about all. */
export function forAudiences(audiences: readonly string[]): string {
  return audiences.length === 0 ? '' : ` for ${listed(audiences)}`;
}
