import { settingsOfProvider } from '../configuration/environment.ts';
import { forAudiences, openFailures } from '../report/doubts.ts';
import { asksToWait, counted, countedBy, instant, windowName } from '../report/text.ts';
import type { Failure, Hold, Issuance, Usage } from '../report/usage.ts';
import {
  audiencesIn,
  isCorrected,
  listed,
  nextTryAt,
  rejectionOf,
  unsettled,
  unsettledInRow,
} from '../report/whose.ts';
import type { Circumstances, Rule } from './finding.ts';

export function holdOf({ holds }: Usage, kind: Hold['kind']): Hold | undefined {
  return holds.find((hold) => hold.kind === kind);
}

export function failureOf(failures: readonly Failure[], kind: Failure['kind']): Failure | undefined {
  return failures.find((failure) => failure.kind === kind);
}

/** A hold, or failures in a row without a token since. Without `until` their wait is over. */
function troubleOf(usage: Usage, { failures, now }: Circumstances, kind: Failure['kind']) {
  const hold = holdOf(usage, kind);
  const own = failures.filter((found) => found.kind === kind);
  const failure = own.find(({ audience }) => !hold || audience === hold.audience) ?? own[0];
  const isOpen = openFailures(usage, failures, now).some((open) => open.kind === kind);
  if (!hold && !isOpen) return undefined;
  const { count = 1, status = hold?.status, audience = hold?.audience } = failure ?? {};
  return { count, status, audience, until: hold?.until };
}

const credentialsRejected: Rule = (usage, circumstances) => {
  const { failures, now, audiences: configured, settings = settingsOfProvider } = circumstances;
  const holds = usage.holds.filter((hold) => hold.kind === 'credentials' && !isCorrected(hold, usage));
  const open = openFailures(usage, failures, now).filter(({ kind }) => kind === 'credentials');
  const over = open.filter(({ audience }) => holds.every((hold) => hold.audience !== audience));
  const found = [...holds, ...over];
  if (found.length === 0) return undefined;
  const audiences = [...new Set(found.flatMap(({ audience }) => audience ?? []))];
  const rejections = [...new Set(found.map((each) => rejectionOf(each, now)))].join('; ');
  const isServed = usage.tokens.some(({ audience }) => audiences.includes(audience));
  const own = open.find(({ tokenExpiresAt }) => tokenExpiresAt !== undefined);
  const others = own
    ? ` The programs with these credentials have a token until ${instant(own.tokenExpiresAt ?? 0, now)}, so the secret was withdrawn since, or one of them has another one.`
    : isServed
      ? ' A token is in use nevertheless: it was requested with other credentials.'
      : '';
  const counts = usage.counts ? ' Each such request counts.' : '';
  const mine = holds.filter(({ audience = '' }) => configured.includes(audience));
  const next =
    holds.length === 0
      ? 'The wait after that is over, and no program has tried these credentials since.'
      : `The same secret is tried again after ${instant(nextTryAt(mine.length > 0 ? mine : holds), now)}; another secret at once.`;
  const retry = holds.length === 0 ? '' : ' Then service-auth retry ends the wait.';
  const about = open.filter(({ audience = '' }) => audiences.includes(audience));
  // An audience that is not granted is the likely cause.
  const isOfRequest = about.length > 0 && about.every((failure) => failure.about === 'request');
  return {
    cause: 'credentials-rejected',
    evidence: isOfRequest
      ? `The token endpoint refuses tokens for ${listed(audiences)} (${rejections}).${counts} ${next}`
      : `The token endpoint rejected the credentials (${rejections}).${counts}${others} ${next}`,
    remedy: isOfRequest
      ? `Compare audience and scope with ${settings}: may this client have such a token? If it gets no others either, compare client id and secret.${retry}`
      : `Compare client id, secret and audience with ${settings}. A secret that was rotated must reach all programs.${retry}`,
    weight: holds.length === 0 ? 1.1 : 2,
    audiences,
  };
};

const otherPrograms: Rule = (usage, circumstances) => {
  const { used, limit, windowMs, foreign = 0, newRecord } = usage;
  const trouble = used < limit * 0.9 ? troubleOf(usage, circumstances, 'rate_limited') : undefined;
  if (!trouble && foreign === 0) return undefined;
  const next =
    trouble?.until === undefined
      ? 'The wait after that is over, and no token was issued since.'
      : `No token is requested until ${instant(trouble.until, circumstances.now)}.`;
  const limited = `The token endpoint ${asksToWait(trouble?.status)}, but this record counts only ${used} of ${limit} ${countedBy(usage)}s in ${windowName(windowMs)}. ${next}`;
  const before = newRecord ? ': they may have been issued before it began' : '';
  const counts = `The provider counts at least ${counted(foreign, 'token')} that this record does not know${before}.`;
  return {
    cause: 'other-programs',
    evidence: [...(trouble ? [limited] : []), ...(foreign > 0 ? [counts] : [])].join(' '),
    remedy:
      'Something else spends tokens of this client id: a program without this store, a second store or prefix, a person with curl. Or the agreement is lower than the limit that is set. Look for them, or ask the provider who got the tokens.',
    weight: trouble ? (trouble.until === undefined ? 1.1 : 2) : Math.min(1, foreign / limit),
    audiences: [],
  };
};

function askFirst({ counts }: Usage): string {
  return counts
    ? 'Run service-auth doctor: with --issue it asks the endpoint, and without it only looks at the rest, because each request counts.'
    : 'Run service-auth doctor first: it asks the endpoint without spending a token.';
}

/** An answer that shows a mistake in an address, or in the form of the request, and no outage. */
function isMistake(status: number): boolean {
  return (status >= 300 && status < 400) || [404, 405, 415].includes(status);
}

function hintOn(status: number | undefined): string {
  if (status === undefined || status >= 500 || status === 408 || status === 425) {
    return 'If the endpoint is slow, give its answers more time with timeoutMs: a request that was cut off may have cost a token.';
  }
  if (status === 400 || status === 401 || status === 403) {
    return 'Either the endpoint says that it is out of order, or the answer is that of a proxy or a login page in front of it.';
  }
  return isMistake(status)
    ? 'This is a mistake in an address, or in SERVICE_AUTH_CLIENT_AUTHENTICATION.'
    : 'Its answer was no usable token: is there a proxy or a login page in front of it?';
}

function whyProgramsEnd(usage: Usage): string {
  return `${askFirst(usage)} If the endpoint does not answer, programs wait for up to timeoutMs (30 s) and are killed meanwhile: fix the endpoint. If it answers at once, see why they ended: exit code 137 or OOMKilled, the time-out of a job, a liveness probe. Give them more than timeoutMs before they are killed, and call close() at the end.`;
}

const outage: Rule = (usage, circumstances) => {
  const trouble = troubleOf(usage, circumstances, 'backoff');
  if (!trouble) return undefined;
  const { count, status, until, audience } = trouble;
  const answered = status === undefined ? 'could not be reached, or did not answer' : `answered ${status}`;
  const often = count > 1 ? ` That happened ${counted(count, 'time')} in a row.` : '';
  const next =
    until === undefined
      ? 'The next request may be sent now.'
      : `The next request is sent after ${instant(until, circumstances.now)}.`;
  return {
    cause: 'outage',
    evidence: `The token endpoint ${answered}.${often} ${next}`,
    remedy: `${askFirst(usage)} ${hintOn(status)} ${status !== undefined && isMistake(status) ? 'When it is corrected' : 'When the endpoint works again'}, service-auth retry ends the wait.`,
    // Requests of unknown outcome are the graver trouble once callers are let through.
    weight: until === undefined ? 0.1 : 1.5,
    audiences: audience === undefined ? [] : [audience],
  };
};

// A token endpoint hardly ever takes as long.
const longMs = 10_000;

/** The requests that have been under way for long, and that programs without a token wait for. */
function longRequests({ issuances, tokens }: Usage, now: number): Issuance[] {
  return issuances.filter(
    ({ at, audience, pendingUntil = 0 }) =>
      pendingUntil > now && now - at >= longMs && tokens.every((token) => token.audience !== audience),
  );
}

function waitSentence({ instance, audience, at, pendingUntil = 0 }: Issuance, now: number): string {
  return `Programs without a token for ${audience} wait for ${instance} until ${instant(pendingUntil, now)}: it has been asking since ${instant(at, now)}, so it was killed meanwhile, or the token endpoint does not answer.`;
}

const deaths: Rule = (usage, circumstances) => {
  const trouble = troubleOf(usage, circumstances, 'deaths');
  const waits = longRequests(usage, circumstances.now);
  const waitedFor = waits.map((request) => waitSentence(request, circumstances.now)).join(' ');
  // One program that was killed is no pattern.
  const isPattern = trouble && (trouble.until !== undefined || trouble.count >= 2);
  if (!isPattern) {
    return waits.length === 0
      ? undefined
      : {
          cause: 'deaths',
          evidence: waitedFor,
          remedy: `Look at ${waits[0]?.instance}: is it still running? If it is gone, another program asks at that time, and nothing has to be done. ${whyProgramsEnd(usage)}`,
          weight: 2,
          audiences: audiencesIn(waits),
        };
  }
  const { until } = trouble;
  const series = unsettled(usage);
  const inRow = unsettledInRow(usage).length;
  const row =
    inRow > 1 && inRow < series.length ? ` The last ${inRow} of them came without an issued token in between.` : '';
  const next =
    until === undefined ? '' : ` No token is requested until ${instant(until, circumstances.now)}, for any audience.`;
  return {
    cause: 'deaths',
    short: `programs ended while they asked for a token${forAudiences(audiencesIn(series))}`,
    evidence: `${series.length === 0 ? 'Token requests' : counted(series.length, 'token request')} had no end: the programs ended, were killed, or stood still before the answer. Each counts${usage.counts ? '' : ' as a token'}.${row}${next}${waitedFor && ` ${waitedFor}`}`,
    remedy: whyProgramsEnd(usage),
    weight: until === undefined ? series.length / Math.max(1, usage.used) : 1.5,
    series,
    isBounded: true,
  };
};

export const holdRules: readonly Rule[] = [credentialsRejected, otherPrograms, outage, deaths];
