import { counted, duration, grouped, instant, windowName } from '../report/text.ts';
import type { Usage } from '../report/usage.ts';
import type { Rule } from './finding.ts';
import { holdOf, holdRules } from './hold-rules.ts';
import { culprits, lifetimeMs, stepsOf, usualIntervalMs } from './journal.ts';

const minute = 60_000;
const shortMs = 45 * minute;

/** Fewer of them are no pattern. */
const few = 3;

/** The record lists the newest issuances one by one, and of older ones the number only. */
function spentIn({ issuances, used, windowMs }: Usage): string {
  return `of the ${issuances.length < used ? 'newest ' : ''}${counted(issuances.length, 'token')} of the last ${windowName(windowMs)}`;
}

/** The API answers 401 to good tokens, again and again. */
const storm: Rule = (usage, { now }) => {
  const rejected = stepsOf(usage).filter(({ issuance }) => issuance.reason === 'rejected');
  const hold = holdOf(usage, 'rejections');
  if (rejected.length < few && !(hold && rejected.length > 0)) return undefined;
  const soon = rejected.filter(({ afterMs }) => afterMs !== undefined && afterMs <= 5 * minute).length;
  const within = soon * 2 >= rejected.length ? ` within 5 minutes (${soon} of them)` : '';
  const next = hold ? ` The next such renewal is let through at ${instant(hold.until, now)}.` : '';
  return {
    cause: '401-storm',
    evidence: `${rejected.length} ${spentIn(usage)} were issued because the API rejected the one before (401)${within}. ${culprits(rejected.map(({ issuance }) => issuance))}${next}`,
    remedy:
      'Ask the API why it answers 401: a wrong audience, a revoked client, or a gateway that does not know the key of the tokens. A new token does not help.',
    weight: rejected.length / usage.issuances.length,
  };
};

/** Issuances to processes that found no token that they could use, although one was issued a short time ago. */
function needlessColdStarts(usage: Usage) {
  const cold = stepsOf(usage).filter(({ issuance, afterMs = Number.POSITIVE_INFINITY }) => {
    // Nobody knows how long tokens lived that are all gone.
    const lifetime = lifetimeMs(usage, issuance.audience) ?? shortMs;
    return issuance.reason === 'cold' && afterMs < lifetime * 0.8;
  });
  return cold.map(({ issuance }) => issuance);
}

/** One program that starts again and again and never finds the token of its predecessor. */
const restarts: Rule = (usage) => {
  const cold = needlessColdStarts(usage);
  if (cold.length < few) return undefined;
  const groups = [...grouped(cold, ({ instance }) => instance)].sort(([, a], [, b]) => b.length - a.length);
  const [[instance, own] = ['', []]] = groups;
  if (own.length < few || own.length * 2 < cold.length) return undefined;
  const interval = usualIntervalMs(own);
  const every = interval === undefined ? '' : `, one every ${duration(interval)}`;
  return {
    cause: 'restarts',
    evidence: `${own.length} ${spentIn(usage)} were issued because instance ${instance} started and found no token that it could use${every}, although others had been issued a short time before.`,
    remedy: `Look into the log of ${instance}: why does it start so often? It finds no token because its client secret or its storeKey is not the one of the others, or because its store is lost with each start.`,
    weight: own.length / usage.issuances.length,
  };
};

/** Many programs that do not find each other's token. */
const differentKeys: Rule = (usage) => {
  const cold = needlessColdStarts(usage);
  if (cold.length < few) return undefined;
  const instances = new Set(cold.map(({ instance }) => instance)).size;
  if (instances < few) return undefined;
  const interval = usualIntervalMs(cold);
  const every = interval === undefined ? '' : ` The usual time between two of them is ${duration(interval)}.`;
  return {
    cause: 'different-keys',
    evidence: `${cold.length} ${spentIn(usage)} were issued to programs that started and found no token that they could use, although one had been issued a short time before. ${instances} instances did so, most of them once.${every}`,
    remedy:
      'Programs share a token only if they have the same store and the same client secret (or the same storeKey). Compare both between two of these instances. Instances with new names at equal intervals are one program that restarts.',
    weight: cold.length / usage.issuances.length,
  };
};

/** Requests whose outcome nobody knows count as issued. */
const unknownOutcomes: Rule = (usage) => {
  const { unknown, used, holds } = usage;
  if (unknown < few || unknown < used / 10) return undefined;
  const hold = holds.find(({ kind }) => kind === 'backoff');
  const answered = hold?.status === undefined ? 'failed or did not answer' : `answered ${hold.status}`;
  const pending = usage.issuances.filter(({ pending }) => pending);
  return {
    cause: 'unknown-outcomes',
    evidence:
      `${unknown} of the ${counted(used, 'token')} that count were perhaps never issued: the token endpoint ${answered}, or the program died, so nobody knows. They count for 27 hours of a window of 24. ${pending.length > 0 ? culprits(pending) : ''}`.trim(),
    remedy:
      'Look at the token endpoint and at what lies between: time-outs, proxies, a timeoutMs that is shorter than its answers take. The event token_request_failed has the error of each.',
    weight: unknown / Math.max(1, used),
  };
};

const resets: Rule = (usage) => {
  const { issuances } = usage;
  const replaced = issuances.filter(({ reason }) => reason === 'reset');
  if (replaced.length < few) return undefined;
  const [latest] = usage.resets;
  const last = latest
    ? ` The latest reset was by ${latest.instance}${latest.reason === undefined ? '' : `: "${latest.reason}"`}.`
    : '';
  return {
    cause: 'resets',
    evidence: `${replaced.length} ${spentIn(usage)} replaced tokens that were reset. ${culprits(replaced)}${last}`,
    remedy:
      'reset() is for a token that leaked. If a program calls it after each error, or at each start, take the call out.',
    weight: replaced.length / issuances.length,
  };
};

const manyAudiences: Rule = (usage, { audience }) => {
  const { issuances } = usage;
  const groups = [...grouped(issuances, (issuance) => issuance.audience)].sort(([, a], [, b]) => b.length - a.length);
  const others = groups.filter(([name]) => name !== audience);
  const spent = others.reduce((sum, [, group]) => sum + group.length, 0);
  // Without an audience of one's own, two or three are nothing unusual.
  const usual = audience === undefined ? 3 : 0;
  if (others.length <= usual || spent < few || spent < issuances.length / 2) return undefined;
  const [[name, most] = ['', []]] = others;
  const mine =
    audience === undefined
      ? `${groups.length} audiences share this budget`
      : `Only ${issuances.length - spent} ${spentIn(usage)} were for ${audience}`;
  return {
    cause: 'many-audiences',
    evidence: `${mine}. ${most.length} were for ${name}. ${culprits(most)}`,
    remedy:
      'The limit is per client, and all audiences of a client id share it. Ask the operator for a client id of its own for the audience that spends most.',
    weight: (spent / issuances.length) * 0.5,
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
    evidence: `Tokens live for ${duration(lifetime)}. To have ${audiences === 1 ? 'one' : counted(audiences, 'of them')} at all times takes about ${needed} of the ${usage.usable} usable tokens in ${windowName(usage.windowMs)}.`,
    remedy: 'Ask the operator for tokens that live longer, or for a higher limit.',
    weight: needed >= usage.usable ? 1.2 : 0.4,
  };
};

const lowLimit: Rule = (usage) => {
  const { limit, usable, windowMs } = usage;
  if (usable >= 10) return undefined;
  return {
    cause: 'low-limit',
    evidence: `Of the limit of ${counted(limit, 'token')} in ${windowName(windowMs)} only ${usable} are usable; the others are kept back in case the store loses its record.`,
    remedy:
      'A store that loses nothing (file, PostgreSQL) keeps back a fifth, and Redis half. SERVICE_AUTH_RESERVE sets how many. Or ask the operator for a higher limit.',
    weight: 0.3,
  };
};

const newRecord: Rule = (usage) => {
  const { availableNow, remaining, usable, refusedBecause, holds } = usage;
  const isHeld = holds.some(({ kind }) => ['backoff', 'rate_limited', 'credentials', 'deaths'].includes(kind));
  // Callers may spend all but a twelfth of a record that is old enough.
  const expected = remaining - Math.min(10, Math.floor(usable / 12));
  // A new fleet has one, too. It matters when little is left.
  if (isHeld || availableNow >= Math.min(10, expected)) return undefined;
  if (refusedBecause !== undefined && refusedBecause !== 'limit') return undefined;
  return {
    cause: 'new-record',
    evidence: `${remaining} of ${usable} usable tokens are left, but only ${availableNow} can be issued now: the record is new, and it may have replaced one that was lost.`,
    remedy:
      'If the store was emptied or moved, this ends by itself after about a day. Take care that the store keeps the record: see the page on choosing a store.',
    weight: availableNow === 0 ? 1.4 : 0.35,
  };
};

const termsDiffer: Rule = (usage) => {
  const foreign = usage.windows.filter(({ own }) => !own);
  const hasOwn = usage.windows.some(({ own }) => own);
  if (foreign.length === 0 || (!hasOwn && foreign.length < 2)) return undefined;
  const list = foreign.map(({ tokens, windowMs }) => `${tokens} in ${windowName(windowMs)}`).join(', ');
  return {
    cause: 'terms-differ',
    evidence: `Programs of the fleet state different limits: ${list}${hasOwn ? ', and others than this program' : ''}. The strictest of all counts.`,
    remedy:
      'Set the same SERVICE_AUTH_TOKEN_LIMIT or SERVICE_AUTH_LIMITS everywhere. A limit that nobody states any more ends after an hour.',
    weight: 0.3,
  };
};

/** All rules. Each finds one cause, and none knows of the others. */
export const rules: readonly Rule[] = [
  ...holdRules,
  storm,
  restarts,
  differentKeys,
  resets,
  unknownOutcomes,
  shortTokens,
  newRecord,
  manyAudiences,
  lowLimit,
  termsDiffer,
];
