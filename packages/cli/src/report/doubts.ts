import type { Failure, Usage } from './usage.ts';

const hour = 3_600_000;

/** A failure in a row that makes it doubtful that a caller gets a token, or one that helps, although the limit has room. */
export interface Doubt {
  readonly kind: Failure['kind'];
  /** The number of failures in a row. */
  readonly count: number;
  /** A sentence without a full stop. */
  readonly text: string;
}

/** Returns what a caller has to fear, although the limit has room. */
export function doubtsOf({ tokens, storeAheadMs }: Usage, failures: readonly Failure[], now: number): Doubt[] {
  const served = new Set(tokens.map(({ audience }) => audience));
  const found = failures.filter(({ kind, count, retryAt, audience }) => {
    // Somebody who still had the trouble would have tried again within this time. The other kinds end with the next token.
    const isRecent = now + storeAheadMs <= retryAt + hour;
    if (kind === 'credentials') return isRecent && !served.has(audience ?? '');
    // A single 401 is the usual end of a token that was revoked.
    return kind !== 'rejections' || (isRecent && count > 1);
  });
  const doubts = found.map((failure) => ({ kind: failure.kind, count: failure.count, text: textOf(failure) }));
  // One audience has a state for each key.
  return [...new Map(doubts.map((doubt) => [doubt.text, doubt])).values()];
}

function textOf({ kind, count, status, audience }: Failure): string {
  const last = (one: string, many: string) => (count === 1 ? `the last ${one}` : `the last ${count} ${many}`);
  const requests = last('token request', 'token requests');
  switch (kind) {
    case 'backoff':
      return `${requests} brought no token (${status === undefined ? 'no usable answer' : `the endpoint answered ${status}`})`;
    case 'rate_limited':
      return `the token endpoint answered 429 to ${requests}`;
    case 'credentials':
      return `the token endpoint rejected the credentials for ${audience} (${status ?? 'no status'})`;
    case 'deaths':
      return `${last('program', 'programs')} that asked for a token ended before the answer`;
    case 'rejections':
      return `the API rejected ${last('token', 'tokens')} (401)`;
  }
}

/** Joins sentences without a full stop: `a, b and c`. */
export function joined(texts: readonly string[]): string {
  return [texts.slice(0, -1).join(', '), texts.at(-1) ?? ''].filter((text) => text !== '').join(' and ');
}
