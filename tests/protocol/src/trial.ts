import type { ServiceAuth, ServiceAuthOptions, Store, Transport, Usage } from '@service-auth/core';
import { youngMayGain } from './judge/numbers.ts';
import type { Trial } from './judge/sights.ts';
import { credentials } from './service.ts';
import { type Agreement, limitOf, type Settings } from './settings.ts';

/** A copy of the record at one instant. Nobody else uses it, and nothing of the run changes. */
interface Copy {
  /** A client of a process of its own. */
  client(audience: string): ServiceAuth;
  /** A process without a token asks for one. If it sends a request, nobody answers that. `replaces`: it is sent for a token that a reset ended. */
  ask(audience: string): Promise<'sent' | 'replaces' | 'refused' | 'waits'>;
  /** Time passes. Whoever waits for an answer has died. */
  pass(ms: number): void;
}

/** Creates copies of a record, at an instant of the store's clock. */
export type Copies = (at: number) => Copy;

/** Older issuances are added up. Another one may move one of these into a sum, in which it counts for a few minutes longer. */
const listedIssuances = 150;
/** More callers would show nothing else. */
const mostCallers = 6;
/** Callers that are not refused may have to wait while so large a part of the usable tokens is under way. */
const underWayShare = 1 / 8;
const ticks = 500;
/** A record that saw a clock which was ahead by less than this stands still until the clock has caught up. */
const maxStandstillMs = 60_000;
const leastStepMs = 250;

export function copiesOf(
  { phases, durability }: Settings,
  kept: { readonly record: string; readonly version: string },
  createServiceAuth: (options: ServiceAuthOptions) => ServiceAuth,
): Copies {
  const issuanceLimit = limitOf(phases[0]?.agreements[0] as Agreement);
  return (from) => {
    let at = from;
    let copy = kept;
    let requests = 0;
    const transport: Transport = async ({ body }) => {
      if (!body.includes('client_secret')) return { status: 400, headers: {}, body: '' };
      requests += 1;
      return new Promise(() => {});
    };
    const client = (audience: string) => {
      const store: Store = {
        durability,
        load: async () => ({ ...copy, now: at }),
        async swap(_key, { expected, version, record }) {
          const swapped = copy.version === expected;
          if (swapped) copy = { record, version };
          return { swapped, now: at };
        },
      };
      const clock = { now: () => at, monotonic: () => at, setTimer: () => () => {} };
      return createServiceAuth({ ...credentials, audience, issuanceLimit, clock, store, transport });
    };
    return {
      client,
      async ask(audience) {
        const before = requests;
        let isRefused = false;
        client(audience)
          .getToken()
          .catch(() => {
            isRefused = true;
          });
        for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
        if (requests === before) return isRefused ? 'refused' : 'waits';
        const [newest] = (await client(audience).getUsage()).issuances;
        return newest?.reason === 'reset' ? 'replaces' : 'sent';
      },
      pass(ms) {
        at += ms;
      },
    };
  };
}

/**
 * Asks `getUsage()` of a client, and then sends callers: each for an audience of its own, or one for an audience of the run. Undefined: this audience cannot be
 * tried now, or replaces what a reset ended: that has a share of its own.
 */
export async function tryWhatIsSaid(
  copies: Copies,
  now: number,
  audience: string | undefined,
  { clockIsCoarse, rates }: Settings,
): Promise<Trial | undefined> {
  const usage = await copies(now)
    .client(audience ?? 'visitor')
    .getUsage();
  if (usage.issuances.length >= listedIssuances || (audience !== undefined && isProvided(usage, audience)))
    return undefined;
  const { availableNow: said, refusedUntil, refusedBecause = '', holds, underWay, windows } = usage;
  const inexactMs = clockIsCoarse || rates.store_clock_step || rates.store_clock_set_right ? maxStandstillMs : 0;
  const leastUsable = Math.min(...windows.map(({ usable }) => usable));
  const atOnce = Math.floor(leastUsable * underWayShare) - underWay;
  const asked = audience === undefined ? Math.min(said + 1, mostCallers, Math.max(0, atOnce)) : 1;
  const copy = copies(now);
  let served = 0;
  for (let caller = 0; caller < asked; caller++) {
    const answer = await copy.ask(audience ?? `visitor ${caller}`);
    if (answer === 'replaces') return undefined;
    if (answer === 'sent') served += 1;
  }
  const name = audience ?? 'visitor';
  // Whoever is told when to come back has read the record. If the store's clock was set back, that wrote it anew.
  const copyAt = async (at: number) => {
    const read = copies(now);
    await read.client(name).getUsage();
    read.pass(at - now);
    return read;
  };
  const before = refusedUntil === undefined ? 'sent' : await (await copyAt(refusedUntil - 1)).ask(name);
  if (before === 'replaces') return undefined;
  // A process that dies while it asks changes what is true later.
  const refused = refusedUntil !== undefined &&
    underWay === 0 && {
      because: refusedBecause,
      forMs: refusedUntil - now,
      before: before !== 'refused',
      atIt: await isServedBy(copyAt, name, refusedUntil, refusedUntil + inexactMs),
    };
  const isHeldUp = holds.some(({ kind }) => kind === 'backoff' || kind === 'deaths');
  return { said, asked, served, isHeldUp, refused: refused || undefined };
}

/** Whether a caller is served at an instant. If the record's time stood still, it comes again when it is told to, until `latest`. */
async function isServedBy(
  copyAt: (at: number) => Promise<Copy>,
  audience: string,
  at: number,
  latest: number,
): Promise<boolean> {
  const answer = await (await copyAt(at)).ask(audience);
  if (answer === 'sent' || answer === 'replaces') return true;
  const { refusedUntil = at } = await (await copyAt(at)).client(audience).getUsage();
  const again = Math.max(refusedUntil, at + leastStepMs);
  return again <= latest && isServedBy(copyAt, audience, again, latest);
}

/** The audience has a token, or a request is under way. */
function isProvided({ tokens, underWay }: Usage, audience: string): boolean {
  return underWay > 0 || tokens.some((token) => token.audience === audience);
}

/** Two processes die while they ask, one after the other. Returns whether a third one is served. Undefined: it would not be for another reason. */
export async function tryTwoDeaths(
  copies: Copies,
  now: number,
  { availableNow, underWay, holds, issuances, windows }: Usage,
  { timeoutMs = 30_000, durability }: Settings,
): Promise<boolean | undefined> {
  const [newest] = issuances;
  // A token says nothing about another audience, whose processes may still die.
  const isOver =
    newest?.pending === false && issuances.every((one) => !one.pending || one.audience === newest.audience);
  // From an eighth on, or half of what a record may gain that does not know everything, the rest is spared.
  const isSparing = windows.some(({ tokens, usable, pending }) => {
    const young = youngMayGain(tokens, usable, durability);
    return pending + 2 >= Math.max(3, Math.min(Math.floor(usable / 8), Math.floor(young / 2)));
  });
  const isHeldUp = holds.some(({ kind }) => kind !== 'rejections');
  if (!isOver || isSparing || isHeldUp || underWay > 0 || availableNow < 4) return undefined;
  const copy = copies(now);
  for (let death = 0; death < 2; death++) {
    await copy.ask('visitor');
    copy.pass(timeoutMs + 40_000);
  }
  return (await copy.ask('visitor')) === 'sent';
}
