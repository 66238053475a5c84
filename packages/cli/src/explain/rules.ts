import { countsForMs } from '@service-auth/core/record';
import { minute } from '../line/units.ts';
import { allowance } from '../report/availability.ts';
import { openFailures } from '../report/doubts.ts';
import { counted, countedBy, duration, instant, ranked, windowName } from '../report/text.ts';
import { audiencesIn, listed, unsettled } from '../report/whose.ts';
import { coldRules } from './cold-rules.ts';
import type { Rule } from './finding.ts';
import { failureOf, holdOf, holdRules } from './hold-rules.ts';
import { deathsIn, few, lifetimeMs, spentIn, stepsOf, usualLifeMs } from './journal.ts';

/** Tokens die long before the end that the token endpoint states. */
const dyingTokens: Rule = (usage) => {
  const deaths = deathsIn(usage);
  const lived = usualLifeMs(deaths);
  const stated = lifetimeMs(usage, deaths[0]?.issuance.audience);
  const isAlike = deaths.filter(({ afterMs }) => Math.abs(afterMs - (lived ?? 0)) < (lived ?? 0) / 2).length;
  if (
    lived === undefined ||
    stated === undefined ||
    deaths.length < few(usage) ||
    isAlike * 2 < deaths.length ||
    lived > stated * 0.8
  )
    return undefined;
  const series = deaths.map(({ issuance }) => issuance);
  const life = duration(lived);
  return {
    cause: 'dying-tokens',
    short: `tokens of ${listed(audiencesIn(series))} die after about ${life}`,
    evidence: `Tokens die after about ${life}, though the token endpoint says ${duration(stated)}: ${deaths.length} ${spentIn(usage)} replaced one that the API had accepted.`,
    remedy: `Ask the provider how long a token lives. Until then, set SERVICE_AUTH_LIFETIME, or lifetimeMs, to a little less than ${life}: tokens are renewed before they die, and no request gets a 401.`,
    weight: deaths.length / usage.issuances.length,
    series,
    isBounded: true,
  };
};

/** The API answers 401 to good tokens, again and again. */
const storm: Rule = (usage, { now, failures }) => {
  const deaths = new Set(dyingTokens(usage, { now, failures, audiences: [] })?.series);
  const rejected = stepsOf(usage).filter(({ issuance }) => issuance.reason === 'rejected' && !deaths.has(issuance));
  const hold = holdOf(usage, 'rejections');
  const isDoubted = openFailures(usage, failures, now).some(({ kind }) => kind === 'rejections');
  if (rejected.length < few(usage) && !(isDoubted && rejected.length > 0)) return undefined;
  const series = rejected.map(({ issuance }) => issuance);
  const soon = rejected.filter(({ afterMs }) => afterMs !== undefined && afterMs <= 5 * minute).length;
  const within = soon * 2 >= rejected.length ? ` within 5 minutes (${soon} of them)` : '';
  const next = hold ? ` The next such renewal is let through at ${instant(hold.until, now)}.` : '';
  return {
    cause: '401-storm',
    evidence: `${rejected.length} ${spentIn(usage)} were issued because the API rejected the one before (401)${within}.${next}`,
    short: `the API of ${listed(audiencesIn(series))} answers 401 to new tokens (${rejected.length} of ${usage.issuances.length})`,
    remedy:
      'Ask the API why it answers 401: a wrong audience, a revoked client, or a gateway that does not know the key of the tokens. A new token does not help.',
    weight: rejected.length / usage.issuances.length,
    series,
    isBounded: true,
  };
};

/** Requests whose outcome nobody knows count as issued. */
const unknownOutcomes: Rule = (usage, { failures }) => {
  const { unknown, used } = usage;
  if (unknown < few(usage) || unknown < used / 10) return undefined;
  // Programs that ended explain it, and not the endpoint.
  if ((failureOf(failures, 'deaths')?.count ?? 0) * 2 >= unknown) return undefined;
  const failure = failureOf(failures, 'backoff');
  const answered = failure?.status === undefined ? 'failed or did not answer' : `answered ${failure.status}`;
  const pending = unsettled(usage);
  return {
    cause: 'unknown-outcomes',
    short: `the outcome of ${counted(unknown, 'request')} is unknown`,
    evidence: `${unknown} of the ${counted(used, countedBy(usage))} that count ${usage.counts ? 'perhaps never arrived' : 'were perhaps never issued'}: the token endpoint ${answered}, or the program died during the request. Each counts for ${duration(countsForMs(usage.windowMs, true))}, because it may have arrived late.`,
    remedy:
      'Look at the token endpoint and at what lies between: time-outs, proxies, a timeoutMs that is shorter than its answers take. The event token_request_failed has the error of each.',
    weight: unknown / Math.max(1, used),
    series: pending,
    isBounded: true,
  };
};

const resets: Rule = (usage) => {
  const { issuances } = usage;
  const replaced = issuances.filter(({ reason }) => reason === 'reset');
  if (replaced.length < few(usage)) return undefined;
  const [latest] = usage.resets;
  const last = latest
    ? ` ${latest.instance} called reset() last${latest.reason === undefined ? ', and gave no reason' : `, with the reason "${latest.reason}"`}.`
    : '';
  return {
    cause: 'resets',
    short: `${counted(replaced.length, 'token')} replaced tokens that were reset`,
    evidence: `${replaced.length} ${spentIn(usage)} replaced tokens that were reset.${last}`,
    remedy:
      'reset() is for a token that leaked. If a program calls it after each error, or at each start, take the call out.',
    weight: replaced.length / issuances.length,
    series: replaced,
  };
};

const were = (count: number) => (count === 1 ? 'was' : 'were');

const manyAudiences: Rule = (usage, { audiences }) => {
  const { usable } = usage;
  // Requests of unknown outcome have causes of their own.
  const issuances = usage.issuances.filter(({ pending }) => !pending);
  const groups = ranked(issuances, ({ audience }) => audience);
  const others = groups.filter(([name]) => !audiences.includes(name));
  const spent = others.reduce((sum, [, group]) => sum + group.length, 0);
  // Without an audience of one's own, two or three are nothing unusual.
  const isAnybody = audiences.length === 0;
  const usual = isAnybody ? 3 : 0;
  if (others.length <= usual || spent < usable / 10 || spent < issuances.length / 2) return undefined;
  const [[name, most] = ['', []]] = others;
  const mine = isAnybody
    ? `${groups.length} audiences share this budget`
    : `Only ${issuances.length - spent} ${spentIn(usage)} ${were(issuances.length - spent)} for ${listed(audiences)}`;
  return {
    cause: 'many-audiences',
    evidence: `${mine}. ${most.length} ${were(most.length)} for ${name}.`,
    remedy:
      'The limit is per client, and all audiences of a client id share it. Ask the provider for a client id of its own for the audience that spends most.',
    weight: (spent / issuances.length) * 0.5,
    about: most,
  };
};

const shortTokens: Rule = (usage) => {
  const lifetime = lifetimeMs(usage);
  if (lifetime === undefined) return undefined;
  const audiences = new Set(usage.tokens.map(({ audience }) => audience)).size;
  const needed = Math.ceil((audiences * usage.windowMs) / (lifetime * 0.85));
  if (needed < usage.usable * 0.5 || lifetime >= usage.windowMs) return undefined;
  return {
    cause: 'short-tokens',
    evidence: `Tokens live for ${duration(lifetime)}. To have ${audiences === 1 ? 'one' : counted(audiences, 'of them')} at all times takes about ${needed} of the ${usage.usable} usable ${countedBy(usage)}s in ${windowName(usage.windowMs)}.`,
    remedy:
      'Ask the provider for tokens that live longer, or for a higher limit. If there is no limit, set SERVICE_AUTH_TOKEN_LIMIT=unlimited.',
    weight: needed >= usage.usable ? 1.2 : 0.4,
  };
};

const lowLimit: Rule = (usage) => {
  const { limit, usable, windowMs } = usage;
  if (usable >= 10) return undefined;
  const agreed = `${counted(limit, countedBy(usage))} in ${windowName(windowMs)}`;
  const [evidence, remedy] =
    usable < limit
      ? [
          `Of the limit of ${agreed} only ${usable} are usable; ${limit - usable} are in reserve in case the store loses its record.`,
          'A store that loses nothing (file, PostgreSQL) holds a fifth in reserve, and Redis half. SERVICE_AUTH_RESERVE sets how many. Or ask the provider for a higher limit.',
        ]
      : [
          `The limit is only ${agreed}, and none is in reserve, so a few restarts or 401s use all of it.`,
          'Ask the provider for a higher limit.',
        ];
  return {
    cause: 'low-limit',
    evidence,
    remedy,
    weight: 0.3,
  };
};

const newRecord: Rule = (usage, { now }) => {
  const { newRecord, refusedBecause } = usage;
  // Every new fleet has one. It matters when little is left.
  if (!newRecord || newRecord.remaining >= 10 || !(refusedBecause === undefined || refusedBecause === 'limit'))
    return undefined;
  const { remaining, until } = newRecord;
  return {
    cause: 'new-record',
    evidence: `The record is new, and it may have replaced one that was lost: it allows ${allowance(usage, now)}. ${remaining} of them ${remaining === 1 ? 'is' : 'are'} left.`,
    remedy: `If you know how many ${countedBy(usage)}s of this client id were ${usage.counts ? 'sent' : 'issued'} elsewhere in the last window, say so: service-auth record spent N --reason TEXT, with 0 if there were none. The rest can be ${usage.counts ? 'sent' : 'issued'} at once. Otherwise this ends by itself at ${instant(until, now)}. If the store was emptied, take care that it keeps the record: see the page on choosing a store.`,
    weight: remaining === 0 ? 1.4 : 0.35,
  };
};

/** A fleet that only looks what the limit would do. */
const notEnforced: Rule = (usage) => {
  const series = usage.issuances.filter(({ overLimit }) => overLimit);
  if (usage.enforce !== false && series.length === 0) return undefined;
  const would = series.length === 0 ? 'no token' : counted(series.length, 'token');
  return {
    cause: 'not-enforced',
    short: `the limit is not enforced, and would have refused ${would}`,
    evidence: `The limit is not enforced. It would have refused ${would} of ${windowName(usage.windowMs)}.`,
    remedy:
      series.length === 0
        ? 'When this stays so for some days, enforce it: take out enforce: false and SERVICE_AUTH_ENFORCE_LIMIT.'
        : 'Find out below who spends them, before you enforce it: one store for all processes, and no token for each start.',
    weight: series.length > 0 ? 0.5 : 0.05,
    series,
  };
};

const termsDiffer: Rule = (usage) => {
  const foreign = usage.windows.filter(({ own }) => !own);
  const hasOwn = usage.windows.some(({ own }) => own);
  if (foreign.length === 0 || (!hasOwn && foreign.length < 2)) return undefined;
  const list = foreign
    .map(({ tokens, counts, windowMs, enforce }) => {
      return `${tokens}${counts ? ' requests' : ''} in ${windowName(windowMs)}${enforce === false ? ', not enforced' : ''}`;
    })
    .join(', ');
  return {
    cause: 'terms-differ',
    evidence: `Programs of the fleet state different limits: ${list}${hasOwn ? ', and others than this program' : ''}. The strictest of all counts.`,
    remedy:
      'Set the same SERVICE_AUTH_TOKEN_LIMIT everywhere. A limit ends an hour after the last program that states it.',
    weight: 0.3,
  };
};

/** All rules. Each finds one cause, and none knows of the others. */
export const rules: readonly Rule[] = [
  ...holdRules,
  dyingTokens,
  storm,
  ...coldRules,
  resets,
  unknownOutcomes,
  shortTokens,
  newRecord,
  manyAudiences,
  lowLimit,
  notEnforced,
  termsDiffer,
];
