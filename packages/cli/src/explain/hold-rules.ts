import { doubtsOf } from '../report/doubts.ts';
import { counted, instant, windowName } from '../report/text.ts';
import type { Failure, Hold, Usage } from '../report/usage.ts';
import type { Circumstances, Rule } from './finding.ts';
import { culprits, unsettled } from './journal.ts';

/** The hold of one kind. Undefined: there is none. */
export function holdOf({ holds }: Usage, kind: Hold['kind']): Hold | undefined {
  return holds.find((hold) => hold.kind === kind);
}

/** The failures in a row of one kind that the record remembers. */
export function failureOf(failures: readonly Failure[], kind: Failure['kind']): Failure | undefined {
  return failures.find((failure) => failure.kind === kind);
}

/** Trouble of one kind: a hold, or failures in a row whose wait is over and after which no token was issued. */
interface Trouble {
  readonly count: number;
  readonly status: number | undefined;
  readonly audience: string | undefined;
  /** Undefined: the wait is over. */
  readonly until: number | undefined;
}

function troubleOf(usage: Usage, { failures, now }: Circumstances, kind: Failure['kind']): Trouble | undefined {
  const hold = holdOf(usage, kind);
  const failure = failures.find((found) => found.kind === kind && (!hold || found.audience === hold.audience));
  const isOpen = doubtsOf(usage, failures, now).some((doubt) => doubt.kind === kind);
  if (!hold && !isOpen) return undefined;
  const { count = 1, status = hold?.status, audience = hold?.audience } = failure ?? {};
  return { count, status, audience, until: hold?.until };
}

const credentialsRejected: Rule = (usage, circumstances) => {
  const trouble = troubleOf(usage, circumstances, 'credentials');
  if (!trouble) return undefined;
  const { audience, status = 'status unknown', until } = trouble;
  const whose = audience === undefined ? '' : ` for ${audience}`;
  const next =
    until === undefined
      ? 'The wait after that is over, and no token was issued since.'
      : `The same secret is tried again after ${instant(until, circumstances.now)}; another secret at once.`;
  return {
    cause: 'credentials-rejected',
    short: `the token endpoint rejected the credentials${whose} (${status})`,
    evidence: `The token endpoint rejected the credentials${whose} (${status}). ${next}`,
    remedy:
      'Compare client id, secret and audience with the Settings of the dashboard. A secret that was rotated must reach all programs. Then service-auth retry ends the wait.',
    weight: until === undefined ? 1.1 : 2,
  };
};

/** The operator counts more than the record does. */
const otherPrograms: Rule = (usage, circumstances) => {
  const trouble = troubleOf(usage, circumstances, 'rate_limited');
  if (!trouble) return undefined;
  const { used, limit, windowMs } = usage;
  if (used >= limit * 0.9) return undefined;
  const { until } = trouble;
  const next =
    until === undefined
      ? 'The wait after that is over, and no token was issued since.'
      : `Nobody asks again before ${instant(until, circumstances.now)}.`;
  return {
    cause: 'other-programs',
    short: 'the token endpoint answers 429',
    evidence: `The token endpoint answers 429, but this record counts only ${used} of ${limit} tokens in ${windowName(windowMs)}. ${next}`,
    remedy:
      'Somebody else spends tokens of this client id: a program without this store, a second store or prefix, somebody with curl. Or the agreement is lower than the limit that is set. Look for them, or ask the operator who got the tokens.',
    weight: until === undefined ? 1.1 : 2,
  };
};

/** The token endpoint does not work now. */
const outage: Rule = (usage, circumstances) => {
  const trouble = troubleOf(usage, circumstances, 'backoff');
  if (!trouble) return undefined;
  const { count, status, until } = trouble;
  const answered = status === undefined ? 'could not be reached, or did not answer' : `answered ${status}`;
  const often = count > 1 ? ` That happened ${counted(count, 'time')} in a row.` : '';
  const next =
    until === undefined
      ? 'The next request may be sent now.'
      : `The next request is sent after ${instant(until, circumstances.now)}.`;
  return {
    cause: 'outage',
    short: `the token endpoint ${answered}`,
    evidence: `The token endpoint ${answered}.${often} ${next}`,
    remedy:
      'Run service-auth doctor: it asks the endpoint without spending a token. When the endpoint works again, service-auth retry ends the wait.',
    // Requests of unknown outcome are the graver trouble once callers are let through.
    weight: until === undefined ? 0.1 : 1.5,
  };
};

const deaths: Rule = (usage, circumstances) => {
  const trouble = troubleOf(usage, circumstances, 'deaths');
  // One program that was killed is no pattern.
  if (!trouble || (trouble.until === undefined && trouble.count < 2)) return undefined;
  const { until, count } = trouble;
  const series = unsettled(usage);
  const next = until === undefined ? '' : ` Nobody asks before ${instant(until, circumstances.now)}.`;
  return {
    cause: 'deaths',
    short: 'programs ended while they asked for a token',
    evidence: `${count > 1 ? `The last ${count}` : 'Several'} programs that asked for a token ended, or stood still, before the answer. Each of these requests counts as a token. ${series.length > 0 ? culprits(series) : ''}${next}`,
    remedy:
      'Programs are killed too early: give them more time than timeoutMs (30 s) before they are stopped or killed, and call close() at the end. In pipelines look for time-outs and for memory limits.',
    weight: until === undefined ? series.length / Math.max(1, usage.used) : 1.5,
    series,
    isBounded: true,
  };
};

/** The rules about failures of the token endpoint and of those who ask it. */
export const holdRules: readonly Rule[] = [credentialsRejected, otherPrograms, outage, deaths];
