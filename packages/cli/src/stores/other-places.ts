import { createUsageReader, type Store, type Usage } from '@service-auth/core';
import { type RecordOwner, recordKey } from '@service-auth/core/record';
import { abortable } from '@service-auth/core/store';
import { counted, instant, windowName } from '../report/text.ts';
import type { OpenedStore, OtherPlaces } from './address.ts';
import { type Diagnosis, ok, warning } from './diagnosis.ts';

const words = {
  prefix: { under: 'under other prefixes', no: 'no other prefix has' },
  table: { under: 'in other tables', no: 'no other table of this database has' },
} as const;

/** So many places are read. Others are only named. */
const maxRead = 5;

/** What the store tells of itself and of its other places, until the signal aborts. */
export async function factsOf(
  opened: OpenedStore,
  owner: RecordOwner | undefined,
  signal: AbortSignal,
  otherwise: (error: unknown) => readonly Diagnosis[],
): Promise<readonly Diagnosis[]> {
  const facts = [opened.examine?.() ?? [], owner ? examineOtherPlaces(opened, owner) : []];
  const told = facts.map((fact) => abortable(Promise.resolve(fact), signal).catch(otherwise));
  return (await Promise.all(told)).flat();
}

/** Looks for other records of the client, and counts their tokens: two are two budgets. */
async function examineOtherPlaces({ store, others }: OpenedStore, owner: RecordOwner): Promise<readonly Diagnosis[]> {
  if (!others) return [];
  const places = await others(await recordKey(owner));
  const { found, kind, searched } = places;
  const { under, no } = words[kind];
  if (found.length === 0) {
    return [ok(`${no} a record of this client${searched ? ` among ${searched}` : ''}`)];
  }
  const now = Date.now();
  const usages = await Promise.all(found.slice(0, maxRead).map(async (place) => usageIn(place.store, owner)));
  const list = found.map(({ name }, at) => `${name}${described(usages[at], now)}`).join(', ');
  const own = await usageIn(store, owner);
  return [
    warning(
      `there are records of this client ${under}, too: ${list}${own ? together([own, ...usages], found.length) : ''}`,
      `two records are two budgets; give all programs the same ${kind}. ${commandFor(places)}`,
    ),
  ];
}

async function usageIn(store: Store | undefined, owner: RecordOwner): Promise<Usage | undefined> {
  return (
    store &&
    createUsageReader({ ...owner, store })
      .getUsage()
      .catch(() => undefined)
  );
}

function described(usage: Usage | undefined, now: number): string {
  if (!usage) return '';
  const [newest] = usage.issuances;
  const last = newest ? `, the last at ${instant(newest.at, now)} by ${newest.instance}` : '';
  return ` (${counted(usage.used, 'token')} in ${windowName(usage.windowMs)}${last})`;
}

/** Says whether all known records together reach the limit of the provider. */
function together([own, ...others]: readonly [Usage, ...(Usage | undefined)[]], places: number): string {
  const known = others.filter((usage) => usage !== undefined);
  if (known.length < places) return '';
  const sum = known.reduce((all, { used }) => all + used, own.used);
  const stated = known.filter(({ windows }) => windows.some((window) => !window.own));
  const limit = Math.max(own.limit, ...stated.map((usage) => usage.limit));
  const verdict =
    sum >= limit
      ? 'which explains a 429 of the token endpoint'
      : 'which alone does not explain a 429 of the token endpoint';
  return `. Together with this one they count ${sum} of ${counted(limit, 'token')}, ${verdict}`;
}

function commandFor({ found, addressOf }: OtherPlaces): string {
  const [{ parameter } = { parameter: '' }] = found;
  const address = addressOf(parameter);
  const look =
    address === undefined
      ? `service-auth usage with ${parameter} in the address of the store`
      : `service-auth usage --store '${address}'`;
  return `To see who writes there: ${look}`;
}
