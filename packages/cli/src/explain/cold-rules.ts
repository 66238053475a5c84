import { counted, duration, grouped, ranked } from '../report/text.ts';
import type { Issuance, Usage } from '../report/usage.ts';
import type { Rule } from './finding.ts';
import { few, lifetimeMs, spentIn, stepsOf, usualIntervalMs } from './journal.ts';

const shortMs = 45 * 60_000;

/**
 * Issuances to processes that found no usable token, though one was issued shortly before. A name
 * that has a tenth of them is one program. Names that come a few times each are jobs.
 */
function needlessStarts(usage: Usage) {
  const cold = stepsOf(usage)
    .filter(({ issuance, afterMs = Number.POSITIVE_INFINITY }) => {
      // Nobody knows how long tokens lived that are all gone.
      const lifetime = lifetimeMs(usage, issuance.audience) ?? shortMs;
      return issuance.reason === 'cold' && afterMs < lifetime * 0.8;
    })
    .map(({ issuance }) => issuance);
  const groups = ranked(cold, ({ instance }) => instance).map(([, group]) => group);
  const repeats = (group: readonly Issuance[]) => group.length >= few(usage) && group.length * 10 >= cold.length;
  return { repeated: groups.filter(repeats), single: groups.filter((group) => !repeats(group)).flat() };
}

/** Each key has a token of its own, so several tokens for one audience prove several keys. */
function provenKeys(usage: Usage): string {
  const [[audience, most] = ['', []]] = ranked(usage.tokens, (token) => token.audience);
  if (most.length < few(usage)) return '';
  return `${most.length} tokens are in use for ${audience}; programs with one key share one. `;
}

/** Programs that start again and again and never find the token of their predecessor. */
const restarts: Rule = (usage) => {
  const { repeated } = needlessStarts(usage);
  const series = repeated.flat();
  const [own = []] = repeated;
  const [{ instance } = { instance: '' }] = own;
  if (own.length === 0) return undefined;
  const interval = usualIntervalMs(own);
  const every = interval === undefined ? '' : `, one every ${duration(interval)}`;
  const who =
    repeated.length === 1
      ? `instance ${instance} started and found no token that it could use${every}`
      : `${repeated.length} instances started again and again and found no token that they could use`;
  return {
    cause: 'restarts',
    short: `${repeated.length === 1 ? instance : `${repeated.length} instances`} started ${series.length} times without a token`,
    evidence: `${provenKeys(usage)}${series.length} ${spentIn(usage)} were issued because ${who}, although others had been issued a short time before. The name is the same each time, so it is a program that restarts, or jobs that all have one name; jobs with names of their own are listed apart.`,
    remedy: `Look into the log of ${instance}: why does it start so often? Its earlier tokens are in this record, so it has this store. It cannot decrypt them, because its storeKey (SERVICE_AUTH_STORE_KEY) or its client secret is another one at each start.`,
    weight: series.length / usage.issuances.length,
    series,
  };
};

const differentKeys: Rule = (usage) => {
  const { single: series } = needlessStarts(usage);
  const groups = grouped(series, ({ instance }) => instance);
  if (groups.size < few(usage)) return undefined;
  const once = [...groups.values()].filter(({ length }) => length === 1).length;
  const often =
    once === groups.size
      ? 'each of them once'
      : once === 0
        ? 'each of them several times'
        : `${once} of them once, the others several times`;
  const interval = usualIntervalMs(series);
  const every = interval === undefined ? '' : ` The usual time between two of them is ${duration(interval)}.`;
  return {
    cause: 'different-keys',
    short: `${counted(groups.size, 'instance')} started without a token that they could use`,
    evidence: `${provenKeys(usage)}${series.length} ${spentIn(usage)} were issued to programs that started and found no token that they could use, although one had been issued a short time before. ${groups.size} instances did so, ${often}.${every} Names that come once are those of jobs or pods; a program that restarts under its own name is listed apart.`,
    remedy:
      'Compare storeKey (SERVICE_AUTH_STORE_KEY) and client secret of two of these instances. All of them are in this record, so they have this store, but programs with another key or secret cannot decrypt the tokens of the others. Jobs need the same in each run. If these are names of one program that gets a new one at each start, find out also why it restarts.',
    weight: series.length / usage.issuances.length,
    series,
  };
};

export const coldRules: readonly Rule[] = [restarts, differentKeys];
