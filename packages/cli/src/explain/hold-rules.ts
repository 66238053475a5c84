import { instant, windowName } from '../report/text.ts';
import type { Hold, Usage } from '../report/usage.ts';
import type { Rule } from './finding.ts';

/** The hold of one kind. Undefined: there is none. */
export function holdOf({ holds }: Usage, kind: Hold['kind']): Hold | undefined {
  return holds.find((hold) => hold.kind === kind);
}

const credentialsRejected: Rule = (usage, { now }) => {
  const hold = holdOf(usage, 'credentials');
  if (!hold) return undefined;
  const whose = hold.audience === undefined ? '' : ` for ${hold.audience}`;
  return {
    cause: 'credentials-rejected',
    evidence: `The token endpoint rejected the credentials${whose} (${hold.status ?? 'status unknown'}). The same secret is tried again after ${instant(hold.until, now)}; another secret at once.`,
    remedy:
      'Compare client id, secret and audience with the Settings of the dashboard. A secret that was rotated must reach all programs. Then service-auth retry ends the wait.',
    weight: 2,
  };
};

/** The operator counts more than the record does. */
const otherPrograms: Rule = (usage, { now }) => {
  const hold = holdOf(usage, 'rate_limited');
  if (!hold) return undefined;
  const { used, limit, windowMs } = usage;
  if (used >= limit * 0.9) return undefined;
  return {
    cause: 'other-programs',
    evidence: `The token endpoint answers 429, but this store counts only ${used} of ${limit} tokens in ${windowName(windowMs)}. Nobody asks again before ${instant(hold.until, now)}.`,
    remedy:
      'Somebody else spends tokens of this client id: a program without this store, a second store or prefix, somebody with curl. Or the agreement is lower than the limit that is set. Look for them, or ask the operator who got the tokens.',
    weight: 2,
  };
};

/** The token endpoint does not work now. */
const outage: Rule = (usage, { now }) => {
  const hold = holdOf(usage, 'backoff');
  if (!hold) return undefined;
  const answered = hold.status === undefined ? 'could not be reached, or did not answer' : `answered ${hold.status}`;
  return {
    cause: 'outage',
    evidence: `The token endpoint ${answered}. The next request is sent after ${instant(hold.until, now)}.`,
    remedy:
      'Run service-auth doctor: it asks the endpoint without spending a token. When the endpoint works again, service-auth retry ends the wait.',
    weight: 1.5,
  };
};

const deaths: Rule = (usage, { now }) => {
  const hold = holdOf(usage, 'deaths');
  if (!hold) return undefined;
  return {
    cause: 'deaths',
    evidence: `Several programs in a row ended, or stood still, while they asked for a token. Each of these requests counts as a token. Nobody asks before ${instant(hold.until, now)}.`,
    remedy:
      'Programs are killed too early: give them more time than timeoutMs (30 s) before they are stopped or killed, and call close() at the end. In pipelines look for time-outs and for memory limits.',
    weight: 1.5,
  };
};

/** The rules about holds of the fleet that refuse callers now. */
export const holdRules: readonly Rule[] = [credentialsRejected, otherPrograms, outage, deaths];
